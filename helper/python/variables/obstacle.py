"""What keys never go through (WV-11)."""

from __future__ import annotations

import stat

from .errors import VariablesError, refusal

_ONLY_PLAIN = "and only plain files and folders are gone into"

MOUNT = "mount"
CLOSED = "closed"
SPELLINGS = "spellings"
ODD = "odd"
"""No folder, or no plain file, whatever else it is."""

MAX_SPELLINGS = 64
"""Spellings of one folder that are merged; all of them are held open at once, and a process may have 1024
files open.
"""

OBSTACLE_TEXTS = {
    "symlink": "is a symbolic link, and links are never followed",
    "fifo": f"is a pipe, {_ONLY_PLAIN}",
    "socket": f"is a socket, {_ONLY_PLAIN}",
    "device": f"is a device, {_ONLY_PLAIN}",
    MOUNT: "is another mount, and no other mount is gone into",
    CLOSED: "is a folder that is closed to this user",
    SPELLINGS: f"has more than {MAX_SPELLINGS} spellings, and no more are merged",
    ODD: "is of another kind than its place asks for",
}
"""Completes the name of what stands in the way."""

_BY_KIND = {
    stat.S_IFLNK: "symlink",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}


def barred(key: str, folder: str | None, obstacle: str, remedy: str) -> VariablesError:
    """``unsafe_path`` of a key that the obstacle bars: in its own place, or in that of a folder on the way."""
    which = key if folder is None else f"{key} lies behind {folder}, which"
    return refusal("unsafe_path", f"{which} {OBSTACLE_TEXTS[obstacle]}: {remedy}", key=key)


def obstacle_of(mode: int) -> str:
    return _BY_KIND.get(stat.S_IFMT(mode), ODD)
