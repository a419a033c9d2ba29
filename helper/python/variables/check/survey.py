"""What a pack would hold of the own folder if the step ended now (WV-2, WV-5, WV-11)."""

from __future__ import annotations

import errno
import os
import stat

from ..descriptors import mount_of, open_plain_folder
from ..entry_budget import step_budget
from ..errors import LimitError, VariablesError
from ..folder import Entry, Verdict, judge, list_entries
from ..leaf_place import leaf_shadows_folder
from ..step import Step
from .advice import ADVICE, ADVICE_ON_SHADOW, advice_on_name
from .issue import Issue
from .judge_leaf import judge_leaf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    # Relative to the own folder, by descriptor: the spellings of one folder.
    Spellings = Mapping[int, bytes]

_SKIP_CODES = {
    stat.S_IFLNK: "skipped_symlink",
    stat.S_IFIFO: "skipped_fifo",
    stat.S_IFSOCK: "skipped_socket",
}
# O_DIRECTORY is checked before O_NOFOLLOW: a link that was swapped in says ENOTDIR or ELOOP, by kernel.
_GONE = (errno.ENOTDIR, errno.ENOENT)


class Survey:
    """Accepted full keys with their sizes in bytes, in the order of the walk, and what is not accepted."""

    __slots__ = ("accepted", "rejected", "skipped")

    def __init__(self) -> None:
        self.accepted: list[tuple[str, int]] = []
        self.rejected: list[Issue] = []
        self.skipped: list[Issue] = []


def survey(step: Step) -> Survey:
    """Walks the own folder by the rules of the pack and says of every entry what would become of it.

    Unlike ``walk``, which the keys are listed with, it opens every file and keeps what it passes over. Past a
    limit of the whole pack that limit stands alone: what else was seen depends on the order of the folder.
    """
    limits = step.limits
    surveyor = _Surveyor(step)
    try:
        surveyor.walk({step.own.fds[0]: b""}, step.path.segments)
    except LimitError as error:
        return _nothing(error.code, limits.max_step_entries)
    if surveyor.files > limits.max_step_files:
        return _nothing("step_files_exceeded", limits.max_step_files)
    if surveyor.total > limits.max_step_bytes:
        return _nothing("step_bytes_exceeded", limits.max_step_bytes)
    return surveyor.seen


class _Surveyor:
    def __init__(self, step: Step) -> None:
        self.seen = Survey()
        self.files = 0
        self.total = 0
        self._mount = step.own.mount
        self._limits = step.limits
        self._budget = step_budget(step.limits)

    def walk(self, spellings: Spellings, segments: Sequence[str]) -> bool:
        """Walks folders that are one by folding. Gives whether a value was accepted anywhere below."""
        verdict = judge(self._list(spellings), len(segments))
        self.files += verdict.files
        for entry in verdict.skipped:
            self._skip(_path_of(entry, spellings), _skip_code(entry))
        for entry in verdict.invalid:
            self._reject_key(_path_of(entry, spellings), advice_on_name(entry, len(segments)))
        fruitful = self._walk_subfolders(verdict, spellings, segments)
        is_fruitful = bool(fruitful)
        for segment, entry in verdict.leaves.items():
            path = _path_of(entry, spellings)
            if leaf_shadows_folder(segment) and segment in fruitful:
                self._reject_key(path, ADVICE_ON_SHADOW)
            elif self._take(entry, path, ".".join((*segments, segment))):
                is_fruitful = True
        return is_fruitful

    def _list(self, spellings: Spellings) -> list[Entry]:
        entries: list[Entry] = []
        for fd, path in spellings.items():
            try:
                list_entries(fd, self._budget, entries)
            except VariablesError:
                raise
            except OSError:
                self._reject(path, "unreadable")
        return entries

    def _walk_subfolders(
        self, verdict: Verdict, spellings: Spellings, segments: Sequence[str]
    ) -> set[str]:
        """The segments of the folders below which a value was accepted."""
        fruitful: set[str] = set()
        for segment, entries in verdict.folders.items():
            opened: dict[int, bytes] = {}
            try:
                for entry in entries:
                    self._open_into(opened, entry, _path_of(entry, spellings))
                if self.walk(opened, (*segments, segment)):
                    fruitful.add(segment)
            finally:
                for fd in opened:
                    os.close(fd)
        return fruitful

    def _open_into(self, opened: dict[int, bytes], entry: Entry, path: bytes) -> None:
        try:
            fd = open_plain_folder(entry.origin, entry.name)
        except OSError as error:
            if error.errno == errno.ELOOP:
                self._skip(path, "skipped_symlink")
            else:
                self._reject(
                    path, "changed_while_reading" if error.errno in _GONE else "unreadable"
                )
            return
        # Closed with the others, whatever comes.
        opened[fd] = path
        if mount_of(fd) != self._mount:
            del opened[fd]
            os.close(fd)
            self._skip(path, "skipped_mount")

    def _take(self, entry: Entry, path: bytes, key: str) -> bool:
        limits = self._limits
        # Nothing is accepted any more: only entries and files are still counted.
        if self.files > limits.max_step_files or self.total > limits.max_step_bytes:
            return False
        code, size = judge_leaf(entry.origin, entry.name, limits.max_value_bytes)
        if code is None and size is not None:
            self.total += size
            self.seen.accepted.append((key, size))
            return True
        if code is not None and code.startswith("skipped_"):
            self._skip(path, code)
        elif code is not None:
            details: dict[str, str | int] = {"key": key}
            if size is not None:
                details["size"] = size
            if code == "value_too_large":
                details["limit"] = limits.max_value_bytes
            self.seen.rejected.append(Issue(code, path, ADVICE[code], details))
        return False

    def _reject(self, path: bytes, code: str) -> None:
        self.seen.rejected.append(Issue(code, path, ADVICE[code], {}))

    def _reject_key(self, path: bytes, advice: str) -> None:
        self.seen.rejected.append(Issue("invalid_output_key", path, advice, {}))

    def _skip(self, path: bytes, code: str) -> None:
        self.seen.skipped.append(Issue(code, path, ADVICE[code], {}))


def _nothing(code: str, limit: int) -> Survey:
    alone = Survey()
    alone.rejected.append(Issue(code, b"", ADVICE[code], {"limit": limit}))
    return alone


def _path_of(entry: Entry, spellings: Spellings) -> bytes:
    folder, name = spellings[entry.origin], os.fsencode(entry.name)
    return folder + b"/" + name if folder else name


def _skip_code(entry: Entry) -> str:
    if entry.name.startswith("."):
        return "skipped_dotfile"
    try:
        mode = os.stat(entry.name, dir_fd=entry.origin, follow_symlinks=False).st_mode
    except OSError:
        # Gone meanwhile, or in a folder that shows names alone; it was neither file nor folder.
        return "skipped_device"
    return _SKIP_CODES.get(stat.S_IFMT(mode), "skipped_device")
