"""What a pack would make of a listed file (WV-4, WV-11)."""

from __future__ import annotations

import errno
import os
import stat

from ..descriptors import Descriptor, open_anything
from ..streams import read_up_to

TYPE_CHECKING = False
if TYPE_CHECKING:
    LeafState = tuple[str | None, int | None]

_AFTER_FAILED_OPEN = {
    errno.ELOOP: "skipped_symlink",
    errno.ENXIO: "skipped_socket",
    errno.ENOENT: "changed_while_reading",
}


def judge_leaf(dir_fd: int, name: str, max_bytes: int) -> LeafState:
    """The code that it would be rejected or skipped with, None where it is accepted, and its size if known.

    Reads the file, at most ``max_bytes``, because only its bytes say whether it is UTF-8.
    """
    try:
        fd = open_anything(dir_fd, name)
    except OSError as error:
        return _AFTER_FAILED_OPEN.get(error.errno or 0, "unreadable"), None
    with Descriptor(fd):
        before = os.fstat(fd)
        kind = stat.S_IFMT(before.st_mode)
        if kind == stat.S_IFIFO:
            return "skipped_fifo", None
        if kind in (stat.S_IFCHR, stat.S_IFBLK):
            return "skipped_device", None
        if kind != stat.S_IFREG:
            return "changed_while_reading", None
        size = before.st_size
        if size > max_bytes:
            return "value_too_large", size
        try:
            data = read_up_to(fd, size + 1)
        except OSError:
            return "unreadable", size
        if len(data) != size or _has_changed(before, os.fstat(fd)):
            return "changed_while_reading", None
        return (None if _is_utf8(data) else "invalid_output_value"), size


def _has_changed(before: os.stat_result, after: os.stat_result) -> bool:
    return (before.st_size, before.st_mtime_ns, before.st_ctime_ns) != (
        after.st_size,
        after.st_mtime_ns,
        after.st_ctime_ns,
    )


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
        return True
    except UnicodeDecodeError:
        return False
