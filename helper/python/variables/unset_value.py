"""Removing a variable (WV-14)."""

from __future__ import annotations

from .entry_budget import EntryBudget, step_budget
from .errors import refusal
from .files_named import files_named, is_odd_named
from .folder import Folder
from .in_the_way import in_the_way
from .key import checked_key
from .own_segments import own_segments
from .step import OpenStep
from .suggest_key import suggest_key
from .unlink_if_there import unlink_if_there
from .visible import own_keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def unset_value(environ: Mapping[str, str], key: str) -> str:
    """Removes an own variable, every file that spells it, and gives its full key. Folders stay.

    Raises ``not_found`` where no file spells it, ``invalid_key``, ``outside_own_step``, ``unsafe_path`` where
    a link or the like is in the way, and what ``OpenStep`` raises.
    """
    segments = checked_key(key)
    with OpenStep(environ) as step:
        own = own_segments(segments, step)
        full = step.path.full_key(own)
        if not _remove_below(step.own, own, full, step_budget(step.limits)):
            advice = suggest_key(segments, lambda: own_keys(step))
            raise refusal(
                "not_found",
                f"step {step.path.text} has no variable {full} of its own{advice}",
                key=full,
            )
        return full


def _remove_below(folder: Folder, segments: Sequence[str], key: str, budget: EntryBudget) -> bool:
    """False where no file has the key."""
    segment, rest = segments[0], segments[1:]
    verdict = folder.list(budget)
    spellings = verdict.folders.get(segment, []) if rest else files_named(verdict, segment)
    if not spellings:
        if is_odd_named(verdict, segment):
            raise in_the_way(key, segment)
        return False
    if not rest:
        for entry in spellings:
            unlink_if_there(entry.origin, entry.name)
        return True
    child = folder.open(segment, spellings)
    try:
        is_removed = _remove_below(child, rest, key, budget)
        if not is_removed and child.unsafe:
            raise in_the_way(key, segment)
        return is_removed
    finally:
        child.close()
