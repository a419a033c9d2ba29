"""Bytes of a listed file, without opening it."""

from __future__ import annotations

import errno
import os
import stat

from .folder import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

# EACCES: a folder of mode 0444 may be listed, not searched.
_NO_SIZE = (errno.ENOENT, errno.EACCES)


def file_size(entry: Entry) -> int | None:
    """None where it is no plain file any more, or in a folder that shows names alone."""
    try:
        found = os.stat(entry.name, dir_fd=entry.origin, follow_symlinks=False)
    except OSError as error:
        if error.errno in _NO_SIZE:
            return None
        raise
    return found.st_size if stat.S_ISREG(found.st_mode) else None
