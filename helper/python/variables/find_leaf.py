"""Finding a leaf below a folder, in any case (WV-2, WV-13)."""

from __future__ import annotations

from .descriptors import ABSENT, UNSAFE, Descriptor, open_file_at
from .entry_budget import EntryBudget
from .files_named import is_odd_named
from .folder import Entry, Folder
from .key import fold_flat_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .load_value import Value

    Found = tuple[str, Value | None]

FOUND = "found"
AMBIGUOUS = "ambiguous"
"""Several names fold to the key."""


def find_leaf(
    folder: Folder, path: Sequence[str], budget: EntryBudget, use: Callable[[int], Value]
) -> Found:
    """``FOUND`` with what ``use`` makes of the open file, or ``ABSENT``, ``AMBIGUOUS``, ``UNSAFE`` with
    None.

    ``UNSAFE``: nothing but a link, a pipe or the like bears its name, or that of a folder on the way.
    Closes whatever it opened.
    """
    segment, rest = path[0], path[1:]
    if not rest:
        return _open_leaf(folder, segment, budget, use)
    verdict = folder.list(budget)
    spellings = verdict.folders.get(segment)
    if spellings is None:
        return (UNSAFE if is_odd_named(verdict, segment) else ABSENT), None
    child = folder.open(segment, spellings)
    try:
        status, value = find_leaf(child, rest, budget, use)
        return (UNSAFE if status == ABSENT and child.unsafe else status), value
    finally:
        child.close()


def _open_leaf(
    folder: Folder, segment: str, budget: EntryBudget, use: Callable[[int], Value]
) -> Found:
    verdict = folder.list(budget)
    if any(_bears(entry, segment) for entry in verdict.invalid):
        return AMBIGUOUS, None
    leaf = verdict.leaves.get(segment)
    if leaf is None:
        return _missing(verdict.skipped, segment), None
    fd = open_file_at(leaf.origin, leaf.name)
    if isinstance(fd, str):
        return fd, None
    with Descriptor(fd):
        return FOUND, use(fd)


def _missing(skipped: Iterable[Entry], segment: str) -> str:
    return UNSAFE if any(_bears(entry, segment) for entry in skipped) else ABSENT


def _bears(entry: Entry, segment: str) -> bool:
    """True of what is no folder and folds to the segment; in no folder but ``workflow`` does a segment
    hold dots.
    """
    return entry.type != "folder" and fold_flat_name(entry.name) == segment
