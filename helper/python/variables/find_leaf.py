"""Finding a leaf below a folder, in any case (WV-2, WV-13)."""

from __future__ import annotations

import os

from .descriptors import ABSENT, Descriptor, open_file_at
from .entry_budget import EntryBudget
from .files_named import obstacle_named
from .folder import Entry, Folder
from .key import fold_flat_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .load_value import Value


class Lookup:
    """What came of a search: all of it None where there is no such leaf."""

    __slots__ = ("value", "paths", "place", "obstacle")

    def __init__(
        self,
        value: Value | None = None,
        paths: list[str] | None = None,
        place: str = "",
        obstacle: str | None = None,
    ) -> None:
        self.value = value
        self.paths = paths
        """Of the files whose names all fold to the key (WV-2)."""
        self.place = place
        """Where the obstacle is, the key's beginning up to there."""
        self.obstacle = obstacle
        """What alone bears the leaf's name, or that of a folder on the way."""


def find_leaf(
    folder: Folder, path: Sequence[str], budget: EntryBudget, use: Callable[[int], Value]
) -> Lookup:
    """Finds a leaf and gives its open file to ``use``. Closes whatever it opened."""
    segment, rest = path[0], path[1:]
    if not rest:
        return _open_leaf(folder, segment, budget, use)
    verdict = folder.list(budget)
    spellings = verdict.folders.get(segment)
    if spellings is None:
        return Lookup(place=segment, obstacle=obstacle_named(verdict, segment))
    child = folder.open(segment, spellings)
    try:
        found = find_leaf(child, rest, budget, use)
        if found.obstacle is not None:
            found.place = f"{segment}.{found.place}"
        elif found.value is None and found.paths is None:
            found.place, found.obstacle = segment, child.obstacle
        return found
    finally:
        child.close()


def _open_leaf(
    folder: Folder, segment: str, budget: EntryBudget, use: Callable[[int], Value]
) -> Lookup:
    verdict = folder.list(budget)
    same = [entry for entry in verdict.invalid if _bears(entry, segment)]
    if same:
        return Lookup(paths=[_path_of(entry) for entry in same])
    leaf = verdict.leaves.get(segment)
    if leaf is None:
        odd = next((entry.type for entry in verdict.skipped if _bears(entry, segment)), None)
        return Lookup(place=segment, obstacle=odd)
    fd = open_file_at(leaf.origin, leaf.name)
    if isinstance(fd, str):
        return Lookup(place=segment, obstacle=None if fd == ABSENT else fd)
    with Descriptor(fd):
        return Lookup(use(fd))


def _path_of(entry: Entry) -> str:
    return f"{os.readlink(f'/proc/self/fd/{entry.origin}')}/{entry.name}"


def _bears(entry: Entry, segment: str) -> bool:
    """True of what is no folder and folds to the segment; in no folder but ``workflow`` does a segment
    hold dots.
    """
    return entry.type != "folder" and fold_flat_name(entry.name) == segment
