"""Removing a variable (WV-14)."""

from __future__ import annotations

from .advise_on_absent import advise_on_absent
from .entry_budget import EntryBudget, step_budget
from .errors import refusal
from .files_named import files_named, obstacle_named
from .folder import Folder
from .key import checked_key
from .obstacle import barred
from .own_segments import own_segments
from .step import OpenStep
from .unlink_if_there import unlink_if_there

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def unset_value(environ: Mapping[str, str], key: str) -> str:
    """Removes an own variable, every file that spells it, and gives its full key. Folders stay.

    Raises ``not_found`` where no file spells it, ``invalid_key``, ``outside_own_step``, ``unsafe_path`` where
    a link or the like is in the way, and what ``OpenStep`` raises.
    """
    segments = checked_key(key)
    with OpenStep(environ, ".".join(segments)) as step:
        own = own_segments(segments, step)
        full = step.path.full_key(own)
        if not _remove_below(step.own, own, (), full, step_budget(step.limits)):
            advice = advise_on_absent(segments, step, own_alone=True)
            raise refusal(
                "not_found",
                f"step {step.path.text} has no variable {full} of its own{advice}",
                key=full,
            )
        return full


def _remove_below(
    folder: Folder,
    segments: Sequence[str],
    above: tuple[str, ...],
    key: str,
    budget: EntryBudget,
) -> bool:
    """False where no file has the key."""
    segment, rest = segments[0], segments[1:]
    path = (*above, segment)
    behind = ".".join(path) if rest else None
    verdict = folder.list(budget)
    spellings = verdict.folders.get(segment, []) if rest else files_named(verdict, segment)
    if not spellings:
        obstacle = obstacle_named(verdict, segment)
        if obstacle is not None:
            raise barred(key, behind, obstacle, "remove it")
        return False
    if not rest:
        for entry in spellings:
            unlink_if_there(entry.origin, entry.name)
        return True
    child = folder.open(segment, spellings)
    try:
        is_removed = _remove_below(child, rest, path, key, budget)
        if not is_removed and child.obstacle is not None:
            raise barred(key, behind, child.obstacle, "remove it")
        return is_removed
    finally:
        child.close()
