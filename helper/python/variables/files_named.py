"""What in a folder bears a segment's name, to a writer."""

from __future__ import annotations

from .folder import Entry, Verdict
from .key import fold_segment
from .obstacle import SPELLINGS


def files_named(verdict: Verdict, segment: str) -> list[Entry]:
    """Every file that folds to the segment, more than one where the key is ambiguous.

    In one order for all writers: two of them must not each remove the other's.
    """
    alone = verdict.leaves.get(segment)
    if alone is not None:
        return [alone]
    collided = [
        entry
        for entry in verdict.invalid
        if entry.type == "file" and fold_segment(entry.name) == segment
    ]
    return sorted(collided, key=lambda entry: entry.name)


def obstacle_named(verdict: Verdict, segment: str) -> str | None:
    """What bears the segment's name and is never gone into; None where nothing does."""
    for entry in verdict.skipped:
        if fold_segment(entry.name) == segment:
            return entry.type
    for entry in verdict.invalid:
        if entry.type == "folder" and fold_segment(entry.name) == segment:
            return SPELLINGS
    return None
