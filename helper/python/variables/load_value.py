"""Reading a variable (WV-4, WV-13)."""

from __future__ import annotations

import os

from .descriptors import UNSAFE
from .entry_budget import EntryBudget, root_budget, step_budget
from .errors import VariablesError, refusal
from .find_leaf import AMBIGUOUS, find_leaf
from .folder import Folder
from .key import MAX_SEGMENTS, WORKFLOW, checked_key
from .step import OpenStep, Step
from .streams import read_up_to
from .value import check_size, decode_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Place = tuple[Folder, Sequence[str], EntryBudget]


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
    with OpenStep(environ) as step:
        value = _look(segments, step)
        if value is None:
            raise _not_visible(segments, step)
        return value


def find_value(environ: Mapping[str, str], key: str) -> Value | None:
    """As ``load_value``, but None where no file has that key."""
    segments = checked_key(key)
    with OpenStep(environ) as step:
        return _look(segments, step)


def _look(segments: Sequence[str], step: Step) -> Value | None:
    name = ".".join(segments)
    limit = step.limits.max_value_bytes
    is_unsafe = False
    for folder, path, budget in _places_of(segments, step):
        status, value = find_leaf(folder, path, budget, lambda fd: _read_value(fd, name, limit))
        if value is not None:
            return value
        if status == AMBIGUOUS:
            raise refusal(
                "ambiguous_key",
                f"several files spell {name} and differ only in case: keep one of them",
                key=name,
            )
        is_unsafe = is_unsafe or status == UNSAFE
    if is_unsafe:
        raise refusal(
            "unsafe_path",
            f"{name} is, or lies behind, a link, a pipe, a device, another mount, a closed folder or "
            "one of more than 64 spellings, "
            "and those are never gone into: write a plain file",
            key=name,
        )
    return None


def _not_visible(segments: Sequence[str], step: Step) -> VariablesError:
    from .suggest_key import suggest_key
    from .visible import visible_keys

    name = ".".join(segments)
    advice = suggest_key(segments, lambda: visible_keys(step))
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
    check_size(len(data), limit, key)
    return Value(data, decode_value(data, key))
