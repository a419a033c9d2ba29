"""Where a leaf is to be written (WV-2, WV-13)."""

from __future__ import annotations

from .entry_budget import EntryBudget, step_budget
from .errors import VariablesError, refusal
from .files_named import files_named, obstacle_named
from .folder import Entry, Folder
from .obstacle import ODD, barred
from .step import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class LeafPlace:
    """A place below a folder that exists."""

    __slots__ = ("folder", "missing", "existing", "name")

    def __init__(
        self, folder: Folder, missing: list[str], existing: list[Entry], name: str
    ) -> None:
        self.folder = folder
        """The deepest folder on the way that exists, open."""
        self.missing = missing
        """Names of the folders that are still to be made in it, one in the other."""
        self.existing = existing
        """Files that hold the key now; the first is the one to replace. More than one means that the key
        is ambiguous.
        """
        self.name = name
        """The leaf's name, where nothing holds the key yet: uppercase, unless a folder has that very name
        (WV-2).
        """


def with_leaf_place(step: Step, own: Sequence[str], use: Callable[[LeafPlace], None]) -> None:
    """Finds the place of an own key, changing nothing, and gives it to ``use``.

    Raises ``unsafe_path`` where only a link or the like bears a name on the way, and ``invalid_key``
    where a leaf and a folder would need the same name.
    """
    _descend(step.own, own, (), _Search(step.path.full_key(own), step_budget(step.limits), use))


class _Search:
    __slots__ = ("key", "budget", "use")

    def __init__(self, key: str, budget: EntryBudget, use: Callable[[LeafPlace], None]) -> None:
        self.key = key
        self.budget = budget
        self.use = use


def _descend(
    folder: Folder, segments: Sequence[str], above: tuple[str, ...], search: _Search
) -> None:
    segment, rest = segments[0], segments[1:]
    path = (*above, segment)
    verdict = folder.list(search.budget)
    files = files_named(verdict, segment)
    folders = verdict.folders.get(segment, [])
    same, rivals = (folders, files) if rest else (files, folders)
    if leaf_shadows_folder(segment) and rivals:
        raise _name_taken(search.key, segment)
    obstacle = None if same else obstacle_named(verdict, segment)
    if obstacle is not None:
        raise barred(search.key, ".".join(path) if rest else None, obstacle, "remove it")
    if not rest:
        leaf_name = _free_name(folder, [segment.upper(), segment], rivals)
        if leaf_name is None and not files:
            raise _name_taken(search.key, segment)
        search.use(LeafPlace(folder, [], files, leaf_name or segment))
    elif not folders:
        folder_name = _free_name(folder, [segment, segment.upper()], rivals)
        if folder_name is None:
            raise _name_taken(search.key, segment)
        search.use(LeafPlace(folder, [folder_name, *rest[:-1]], [], rest[-1].upper()))
    else:
        child = folder.open(segment, folders)
        try:
            if not child.fds:
                raise barred(search.key, ".".join(path), child.obstacle or ODD, "remove it")
            _descend(child, rest, path, search)
        finally:
            child.close()


def leaf_shadows_folder(segment: str) -> bool:
    """True where a leaf and a folder of one name cannot stand side by side: no letter tells them apart."""
    return segment.upper() == segment


def _free_name(folder: Folder, names: Sequence[str], rivals: Sequence[Entry]) -> str | None:
    """The first name that no rival has in the very folder where it would be made."""
    taken = {entry.name for entry in rivals if entry.origin == folder.fds[0]}
    return next((name for name in names if name not in taken), None)


def _name_taken(key: str, segment: str) -> VariablesError:
    return refusal(
        "invalid_key",
        f"{key} needs a file and a folder that are both named {segment}, and no letter case tells them apart: choose another name",
        key=key,
    )
