"""Writing a leaf so that every reader meets the old bytes or the new ones (WV-13)."""

from __future__ import annotations

import os

from .descriptors import Descriptor, open_folder_at
from .errors import refusal
from .leaf_place import LeafPlace
from .streams import write_all
from .unlink_if_there import unlink_if_there

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Readable for the sidecar whatever the umask is and under another uid.
_LEAF_MODE = 0o644
_FOLDER_MODE = 0o755
_TEMPORARY_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
# Temporary names that writers killed halfway may have left, under this process's recycled id.
_MAX_TEMPORARIES = 100


def replace_leaf(place: LeafPlace, value: bytes) -> None:
    """Puts the bytes where the place says, all at once, and removes other spellings of the key. Makes the
    folders that are missing.
    """
    if place.existing:
        kept = place.existing[0]
        _replace_file(kept.origin, kept.name, value)
    else:
        _replace_in(place.folder.fds[0], place.missing, place.name, value, place.folder.mount)
    # Only now: the key is never without a value.
    for other in place.existing[1:]:
        unlink_if_there(other.origin, other.name)


def _replace_in(
    dir_fd: int, folders: Sequence[str], name: str, value: bytes, mount: str | None
) -> None:
    if not folders:
        _replace_file(dir_fd, name, value)
        return
    with Descriptor(_make_folder(dir_fd, folders[0], mount)) as inner:
        _replace_in(inner, folders[1:], name, value, mount)


def _make_folder(dir_fd: int, name: str, mount: str | None) -> int:
    try:
        os.mkdir(name, _FOLDER_MODE, dir_fd=dir_fd)
        is_new = True
    except FileExistsError:
        # Another writer may have made it just now.
        is_new = False
    fd = open_folder_at(dir_fd, name, mount)
    if isinstance(fd, str):
        raise refusal(
            "unsafe_path", f"the folder {name} was replaced while it was made: nothing was written"
        )
    if is_new:
        # The umask may have taken bits away.
        try:
            os.fchmod(fd, _FOLDER_MODE)
        except BaseException:
            os.close(fd)
            raise
    return fd


def _replace_file(dir_fd: int, name: str, value: bytes) -> None:
    temporary, fd = _create_temporary(dir_fd)
    try:
        with Descriptor(fd):
            write_all(fd, value)
            os.fchmod(fd, _LEAF_MODE)
        os.rename(temporary, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    except BaseException:
        unlink_if_there(dir_fd, temporary)
        raise


def _create_temporary(dir_fd: int) -> tuple[str, int]:
    """A dotfile is no variable, so that no reader and no pack takes it for one (WV-1)."""
    for n in range(_MAX_TEMPORARIES):
        name = f".wfvar-{os.getpid()}-{n}"
        try:
            return name, os.open(name, _TEMPORARY_FLAGS, 0o600, dir_fd=dir_fd)
        except FileExistsError:
            continue
    name = f".wfvar-{os.getpid()}-{_MAX_TEMPORARIES}"
    return name, os.open(name, _TEMPORARY_FLAGS, 0o600, dir_fd=dir_fd)
