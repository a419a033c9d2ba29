"""Reading a variable (WV-4, WV-13)."""

from __future__ import annotations

import os

from .entry_budget import EntryBudget, root_budget, step_budget
from .errors import VariablesError, refusal
from .find_leaf import find_leaf
from .folder import Folder
from .key import MAX_SEGMENTS, WORKFLOW, checked_key
from .obstacle import barred
from .step import OpenStep, Step
from .streams import read_up_to
from .value import check_read_size, check_size, decode_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Place = tuple[Folder, Sequence[str], EntryBudget]

# Names of one variable's files that the message lists.
_MAX_LISTED_FILES = 4


class Value:
    """``data`` exactly as it stands in the file, and the ``text`` that it spells."""

    __slots__ = ("data", "text")

    def __init__(self, data: bytes, text: str) -> None:
        self.data = data
        self.text = text


def load_value(environ: Mapping[str, str], key: str) -> Value:
    """A variable's value, at most the step's limit.

    Raises ``not_found`` where no file has that key, ``ambiguous_key``, ``value_too_large``,
    ``invalid_value``, ``unsafe_path`` where only a link or the like has it, and what ``OpenStep`` raises.
    """
    segments = checked_key(key)
    with OpenStep(environ, ".".join(segments)) as step:
        value = _look(segments, step)
        if value is None:
            raise _not_visible(segments, step)
        return value


def find_value(environ: Mapping[str, str], key: str) -> Value | None:
    """As ``load_value``, but None where no file has that key."""
    segments = checked_key(key)
    with OpenStep(environ, ".".join(segments)) as step:
        return _look(segments, step)


def _look(segments: Sequence[str], step: Step) -> Value | None:
    name = ".".join(segments)
    limit = step.limits.max_value_bytes
    refused = None
    for folder, path, budget in _places_of(segments, step):
        found = find_leaf(folder, path, budget, lambda fd: _read_value(fd, name, limit))
        if found.value is not None:
            return found.value
        if found.paths is not None:
            raise _ambiguous(name, found.paths, step.root)
        if found.obstacle is not None and refused is None:
            behind = None if found.place == ".".join(path) else found.place
            refused = barred(name, behind, found.obstacle, f"put a plain {'file' if behind is None else 'folder'} there")
    if refused is not None:
        raise refused
    return None


def _ambiguous(name: str, paths: Sequence[str], root_folder: Folder) -> VariablesError:
    root = os.readlink(f"/proc/self/fd/{root_folder.fds[0]}")
    # What folds to a key is ASCII and prints.
    files = sorted(path[len(root) + 1 :] for path in paths)
    more = len(files) - _MAX_LISTED_FILES
    listed = ", ".join(files[:_MAX_LISTED_FILES]) + (f" and {more} more" if more > 0 else "")
    return refusal(
        "ambiguous_key",
        f"several files spell {name} and differ only in case, {listed}: keep one of them",
        key=name,
    )


def _not_visible(segments: Sequence[str], step: Step) -> VariablesError:
    from .advise_on_absent import advise_on_absent

    name = ".".join(segments)
    advice = advise_on_absent(segments, step)
    return refusal(
        "not_found",
        f"no variable {name} is visible to step {step.path.text}{advice}",
        key=name,
    )


def _places_of(segments: Sequence[str], step: Step) -> list[Place]:
    """Where a key may stand, in the order in which it is looked for (WV-13)."""
    if segments[0] == WORKFLOW:
        # The workflow folder is flat: `workflow.item.uuid` is its file `item.uuid`.
        return [(step.root, (WORKFLOW, ".".join(segments[1:])), root_budget())]
    in_own = step.path.without_prefix(segments)
    if in_own is not None:
        return [(step.own, in_own, step_budget(step.limits))]
    places: list[Place] = []
    if len(step.path.segments) + len(segments) <= MAX_SEGMENTS:
        places.append((step.own, segments, step_budget(step.limits)))
    # A file directly under the root belongs to no step.
    if len(segments) > 1:
        places.append((step.root, segments, root_budget()))
    return places


def _read_value(fd: int, key: str, limit: int) -> Value:
    check_size(os.fstat(fd).st_size, limit, key)
    data = read_up_to(fd, limit + 1)
    # It may have grown meanwhile.
    check_read_size(data, limit, key)
    return Value(data, decode_value(data, key))
