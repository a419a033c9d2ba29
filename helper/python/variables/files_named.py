"""What in a folder bears a segment's name, to a writer."""

from __future__ import annotations

from .folder import Entry, Verdict
from .key import fold_segment


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


def is_odd_named(verdict: Verdict, segment: str) -> bool:
    """True where what bears the segment's name is never gone into: a link, a pipe or the like, or a
    folder that has more spellings than are merged.
    """
    crowded = (entry for entry in verdict.invalid if entry.type == "folder")
    return any(fold_segment(entry.name) == segment for entry in (*verdict.skipped, *crowded))
