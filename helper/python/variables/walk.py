"""Going down a folder (WV-2, WV-11)."""

from __future__ import annotations

from .entry_budget import EntryBudget
from .folder import Folder, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Path = tuple[str, ...]


def walk(
    folder: Folder,
    budget: EntryBudget,
    visit: Callable[[Path, Verdict], None],
    is_wanted: Callable[[Path], bool] | None = None,
    path: Path = (),
) -> None:
    """Calls ``visit`` for every folder from this one down, parents first, with its segments from where
    the walk began.

    What is too deep, badly named or a link is never gone into. At most eight levels are open at a time,
    and all are closed whatever ``visit`` raises: a generator would leave that to the garbage collector.
    ``is_wanted`` leaves out a folder with all that is in it.
    """
    verdict = folder.list(budget)
    visit(path, verdict)
    for segment, spellings in verdict.folders.items():
        child_path = (*path, segment)
        if is_wanted is not None and not is_wanted(child_path):
            continue
        child = folder.open(segment, spellings)
        try:
            walk(child, budget, visit, is_wanted, child_path)
        finally:
            child.close()
