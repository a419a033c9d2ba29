"""What to do about a key that does not exist (WV-14)."""

from __future__ import annotations

from .entry_budget import step_budget
from .file_extension import without_extension
from .folder import Verdict
from .nearest_name import nearest_name
from .step import Step
from .visible import own_keys, visible_keys
from .walk import walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def advise_on_absent(segments: Sequence[str], step: Step, own_alone: bool = False) -> str:
    """To end a message with: the key without a file's extension where that exists, what is in the folder of
    that name, the file of that name, the nearest key.

    None of them where the keys cannot be listed: that is not what the caller asked for.
    """
    key = ".".join(segments)
    known = _or_none(lambda: own_keys(step) if own_alone else visible_keys(step))
    bare = without_extension(segments)
    if bare is not None and ".".join(bare) in known:
        return f"; did you mean {'.'.join(bare)}?"
    if any(each.startswith(f"{key}.") for each in known):
        return f": it is a folder; list the prefix {key}. to see what is in it"
    if key in _or_none(lambda: _misnamed(step)):
        return ": a file has that name, but names hold no dot: rename it"
    nearest = nearest_name(key, known)
    return ": list the keys to see which are" if nearest is None else f"; did you mean {nearest}?"


def _misnamed(step: Step) -> list[str]:
    """Own files whose names are no keys, as the keys that they look like."""
    names: list[str] = []

    def visit(path: tuple[str, ...], verdict: Verdict) -> None:
        for entry in verdict.invalid:
            if entry.type == "file" and entry.name.isascii():
                names.append(".".join((*path, entry.name.lower())))

    walk(step.own, step_budget(step.limits), visit)
    return names


def _or_none(keys: Callable[[], Sequence[str]]) -> Sequence[str]:
    try:
        return keys()
    except Exception:
        return ()
