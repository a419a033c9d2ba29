"""Reading and writing all of it by plain system calls, whatever the descriptor is."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

_CHUNK_BYTES = 65_536
_RETRY_SECONDS = 0.005


def read_up_to(fd: int, max_bytes: int) -> bytes:
    """The bytes from where the descriptor stands to its end, but at most ``max_bytes``. Takes files,
    pipes and sockets.
    """
    # One byte more than a file says it has, so that the read after it meets the end.
    chunk_bytes = max(os.fstat(fd).st_size + 1, _CHUNK_BYTES)
    data = bytearray()
    while len(data) < max_bytes:
        chunk = _when_ready(os.read, fd, min(chunk_bytes, max_bytes - len(data)))
        if not chunk:
            break
        data += chunk
    return bytes(data)


def write_all(fd: int, data: bytes) -> None:
    """Writes every byte: the system may take fewer at a time."""
    rest = memoryview(data)
    while rest:
        written = _when_ready(os.write, fd, rest)
        rest = rest[written:]


def _when_ready(call: Callable[..., T], *arguments: object) -> T:
    """Repeats a read or write until it does not answer EAGAIN.

    A parent may hand down pipes that are set not to block, and the flag belongs to the pipe, not to us to
    change.
    """
    while True:
        try:
            return call(*arguments)
        except BlockingIOError:
            import time

            time.sleep(_RETRY_SECONDS)
