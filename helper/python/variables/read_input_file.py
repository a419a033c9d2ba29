"""The file that ``wfvar set --file`` names."""

from __future__ import annotations

import errno
import os
import stat

from .descriptors import Descriptor
from .errors import VariablesError, refusal
from .streams import read_up_to
from .value import check_size

# O_NONBLOCK: a FIFO is refused, not waited for.
_INPUT_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


def read_input_file(path: str, max_bytes: int, key: str) -> bytes:
    """The bytes of the caller's own regular file, links followed.

    Raises ``usage`` where there is none, ``value_too_large`` past the limit. Never quotes the name: a
    caller who mixed up flags may have given a value.
    """
    with Descriptor(_open(path.encode("utf-8", "surrogateescape"))) as fd:
        stats = os.fstat(fd)
        if not stat.S_ISREG(stats.st_mode):
            raise _not_regular()
        check_size(stats.st_size, max_bytes, key)
        return read_up_to(fd, max_bytes + 1)


def _open(path: bytes) -> int:
    try:
        return os.open(path, _INPUT_FLAGS)
    except OSError as error:
        if error.errno in _NO_FILE:
            raise refusal("usage", "--file names no file: give the path of one") from None
        if error.errno == errno.ENXIO:
            raise _not_regular() from None
        name = errno.errorcode.get(error.errno or 0, "?")
        raise refusal(
            "io_error", f"the file of --file cannot be opened ({name}): check its owner and mode"
        ) from error


def _not_regular() -> VariablesError:
    return refusal(
        "usage", "what --file names is not a regular file: pipe its bytes in with --stdin"
    )
