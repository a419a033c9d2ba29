"""Opening what stands in a folder that anyone may rewrite meanwhile (WV-11, WV-13).

Always relative to the parent's descriptor, never through a link, and a file is believed to be one only
after ``fstat`` on its own descriptor.
"""

from __future__ import annotations

import errno
import os
import stat

from .errors import refusal
from .obstacle import CLOSED, MOUNT, ODD, obstacle_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

ABSENT = "absent"

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
# O_NONBLOCK: a FIFO put where a file was would otherwise hold the open until a writer comes.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY

# O_NOFOLLOW met a link; a socket; a device without a driver.
_FILE_REFUSALS = {
    errno.ENOENT: ABSENT,
    errno.ELOOP: "symlink",
    errno.ENXIO: "socket",
    errno.ENODEV: "device",
}
# Whatever is no folder, links included. One closed folder does not stop work on the others; the pack passes
# it over too.
_FOLDER_REFUSALS = {**_FILE_REFUSALS, errno.ENOTDIR: ODD, errno.EACCES: CLOSED}


class Descriptor:
    """Closes a descriptor at the end of a ``with``."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def __enter__(self) -> int:
        return self._fd

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)


def open_folder(path: str) -> int | str:
    """Opens a folder by its path; the caller closes it. Only for the root: everything below goes through
    its descriptor.

    This and the others below give ``ABSENT``, or the obstacle that stands there.
    """
    try:
        return os.open(path, _FOLDER_FLAGS)
    except OSError as error:
        return _named(path, None, _refused(error, _FOLDER_REFUSALS))


def open_folder_at(dir_fd: int, name: str, mount: str | None) -> int | str:
    """Opens a folder in a folder, if it is on the given mount; the caller closes it."""
    try:
        fd = open_plain_folder(dir_fd, name)
    except OSError as error:
        return _named(name, dir_fd, _refused(error, _FOLDER_REFUSALS))
    return _kept_unless(fd, lambda: None if mount_of(fd) == mount else MOUNT)


def open_file_at(dir_fd: int, name: str) -> int | str:
    """Opens a regular file in a folder; the caller closes it."""
    try:
        fd = open_anything(dir_fd, name)
    except OSError as error:
        return _refused(error, _FILE_REFUSALS)
    return _kept_unless(fd, lambda: _file_obstacle(os.fstat(fd).st_mode))


def open_plain_folder(dir_fd: int, name: str) -> int:
    """Opens a folder in a folder, on whatever mount; the caller closes it. Raises the kernel's own error."""
    return os.open(name, _FOLDER_FLAGS, dir_fd=dir_fd)


def open_anything(dir_fd: int, name: str) -> int:
    """Opens what is no link, whatever else it is, and never blocks; the caller asks ``fstat`` what came.

    Raises the kernel's own error.
    """
    return os.open(name, _FILE_FLAGS, dir_fd=dir_fd)


def mount_of(fd: int) -> str | None:
    """Identifies the mount a folder is on; None where the kernel's fdinfo does not tell (gVisor).

    Raises ``unsafe_path`` without ``/proc``: then another mount could not be told from the root's.
    """
    try:
        with Descriptor(os.open(f"/proc/self/fdinfo/{fd}", os.O_RDONLY)) as info:
            lines = os.read(info, 4096).decode("latin-1").split("\n")
    except OSError as error:
        raise refusal(
            "unsafe_path",
            "/proc is not there, and without it variables cannot be opened safely: mount it",
        ) from error
    for line in lines:
        name, _, value = line.partition(":")
        if name == "mnt_id" and value.strip().isdigit():
            return value.strip()
    return None


def _refused(error: OSError, refusals: dict[int, str]) -> str:
    known = refusals.get(error.errno or 0)
    if known is None:
        raise error
    return known


def _named(path: str, dir_fd: int | None, refused: str) -> str:
    """What is no folder, by what it is now: for a message, and nothing more may be made of it."""
    if refused != ODD:
        return refused
    try:
        return obstacle_of(os.stat(path, dir_fd=dir_fd, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return ODD


def _file_obstacle(mode: int) -> str | None:
    return None if stat.S_ISREG(mode) else obstacle_of(mode)


def _kept_unless(fd: int, obstacle: Callable[[], str | None]) -> int | str:
    found: str | None = ODD
    try:
        found = obstacle()
    finally:
        if found is not None:
            os.close(fd)
    return fd if found is None else found
