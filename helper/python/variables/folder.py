"""One folder as keys see it (WV-2, WV-11): what its entries are, before any of them is opened."""

from __future__ import annotations

import builtins
import os

from .descriptors import ABSENT, open_folder_at
from .entry_budget import EntryBudget
from .key import MAX_SEGMENTS, WORKFLOW, fold_flat_name, fold_segment
from .obstacle import MAX_SPELLINGS, ODD, obstacle_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Entry:
    """A directory entry; ``origin`` is the descriptor of the folder that holds it."""

    __slots__ = ("name", "type", "origin")

    def __init__(self, name: str, entry_type: str, origin: int) -> None:
        self.name = name
        self.type = entry_type
        """``file``, ``folder``, or the obstacle that it is."""
        self.origin = origin


class Verdict:
    """What the entries of one folder are to a pack."""

    __slots__ = ("leaves", "folders", "invalid", "skipped", "files")

    def __init__(self) -> None:
        self.leaves: dict[str, Entry] = {}
        """Leaves to open, by segment; each alone under its key."""
        self.folders: dict[str, list[Entry]] = {}
        """Folders to go down into, by segment; those that fold together are one."""
        self.invalid: list[Entry] = []
        """A bad name, a leaf that collides, a folder that would be too deep."""
        self.skipped: list[Entry] = []
        self.files = 0


class Folder:
    """A folder, open: as many descriptors as spellings of its name.

    None are left where all of them vanished or were swapped after listing; it is empty then.
    """

    __slots__ = ("kind", "depth", "mount", "fds", "obstacle")

    def __init__(
        self,
        kind: str,
        depth: int,
        mount: str | None,
        fds: builtins.list[int],
    ) -> None:
        self.kind = kind
        """``root`` holds the steps' folders, ``workflow`` the flat inputs, ``step`` is everything else."""
        self.depth = depth
        """Segments from the root to this folder."""
        self.mount = mount
        self.fds = fds
        self.obstacle: str | None = None
        """What some spelling of it turned out to be when it was opened."""

    def list(self, budget: EntryBudget) -> Verdict:
        """What its entries are, by the rules of its kind. Raises the budget's error past its limit."""
        entries: list[Entry] = []
        for fd in self.fds:
            list_entries(fd, budget, entries)
        return _judge_flat(entries) if self.kind == "workflow" else judge(entries, self.depth)

    def open(self, segment: str, spellings: Iterable[Entry]) -> Folder:
        """Opens a folder in this one, all its spellings, the lowercase one first; the caller closes it."""
        kind = "workflow" if self.kind == "root" and segment == WORKFLOW else "step"
        child = Folder(kind, self.depth + 1, self.mount, [])
        try:
            for entry in sorted(spellings, key=lambda each: each.name, reverse=True):
                fd = open_folder_at(entry.origin, entry.name, self.mount)
                if isinstance(fd, int):
                    child.fds.append(fd)
                elif fd != ABSENT:
                    child.obstacle = child.obstacle or fd
        except BaseException:
            child.close()
            raise
        return child

    def close(self) -> None:
        for fd in self.fds:
            os.close(fd)


def list_entries(fd: int, budget: EntryBudget, into: list[Entry]) -> None:
    """Adds the entries of an open folder. Raises the budget's error past its limit."""
    with os.scandir(fd) as found:
        for entry in found:
            budget.spend()
            into.append(Entry(entry.name, _type_of(entry), fd))


def _type_of(entry: os.DirEntry[str]) -> str:
    if entry.is_file(follow_symlinks=False):
        return "file"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    if entry.is_symlink():
        return "symlink"
    try:
        return obstacle_of(entry.stat(follow_symlinks=False).st_mode)
    except OSError:
        # Gone meanwhile, or in a folder that shows names alone.
        return ODD


def judge(entries: Iterable[Entry], depth: int) -> Verdict:
    """The rules of every folder but ``workflow/``. ``depth`` is the folder's own, as segments from the
    root.
    """
    verdict = Verdict()
    leaves: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.name.startswith(".") or entry.type not in ("file", "folder"):
            verdict.skipped.append(entry)
            continue
        is_file = entry.type == "file"
        verdict.files += is_file
        segment = fold_segment(entry.name)
        if segment is None or depth + 1 > (MAX_SEGMENTS if is_file else MAX_SEGMENTS - 1):
            verdict.invalid.append(entry)
        else:
            (leaves if is_file else verdict.folders).setdefault(segment, []).append(entry)
    _keep_single(leaves, verdict)
    for segment in [each for each, same in verdict.folders.items() if len(same) > MAX_SPELLINGS]:
        verdict.invalid += verdict.folders.pop(segment)
    return verdict


def _judge_flat(entries: Iterable[Entry]) -> Verdict:
    """``workflow/`` holds flat files whose names may hold dots, ``item.uuid``; folders are nothing there
    (WV-8).
    """
    verdict = Verdict()
    leaves: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.name.startswith(".") or entry.type not in ("file", "folder"):
            verdict.skipped.append(entry)
            continue
        verdict.files += entry.type == "file"
        name = fold_flat_name(entry.name) if entry.type == "file" else None
        if name is None:
            verdict.invalid.append(entry)
        else:
            leaves.setdefault(name, []).append(entry)
    _keep_single(leaves, verdict)
    return verdict


def _keep_single(leaves: dict[str, list[Entry]], verdict: Verdict) -> None:
    """Leaves that fold to the same key are all invalid (WV-2)."""
    for segment, same in leaves.items():
        if len(same) == 1:
            verdict.leaves[segment] = same[0]
        else:
            verdict.invalid += same
