"""What a command reaches of the world outside ``/variables``."""

from __future__ import annotations

import errno
import os
import stat

from .errors import refusal
from .streams import read_up_to, write_all
from .words import usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_STDIN = 0
_STDOUT = 1
_STDERR = 2


class ProcessIo:
    """The process's own streams by plain system calls: ``sys.stdout`` would encode, buffer and translate."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ

    def stdin_carries_data(self) -> bool:
        """True where stdin is a pipe, a socket or a file with bytes; reads nothing and never waits."""
        stats = os.fstat(_STDIN)
        kind = stat.S_IFMT(stats.st_mode)
        return kind in (stat.S_IFIFO, stat.S_IFSOCK) or (kind == stat.S_IFREG and stats.st_size > 0)

    def read_stdin(self, max_bytes: int) -> bytes:
        """Stdin to its end, but at most ``max_bytes``."""
        try:
            return read_up_to(_STDIN, max_bytes)
        except IsADirectoryError:
            raise usage("stdin is closed or a folder", "set") from None
        except OSError as error:
            raise refusal("io_error", f"stdin could not be read ({_errno_name(error)})") from error

    def write_out(self, data: bytes | str) -> None:
        """Returns when every byte is written, or when nobody reads any more."""
        try:
            write_all(_STDOUT, _encode(data) if isinstance(data, str) else data)
        except BrokenPipeError:
            # A reader that has gone has what it wanted: `wfvar get report | head -1` is no failure.
            pass
        except OSError as error:
            raise refusal(
                "io_error",
                f"stdout did not take all of the output ({_errno_name(error)}): direct it elsewhere",
            ) from error

    def write_error(self, line: str) -> None:
        """One line, without its end."""
        try:
            write_all(_STDERR, _encode(f"{line}\n"))
        except OSError:
            # Nobody is left to tell; what the command did stands.
            pass


def open_missing_streams() -> None:
    """Puts a folder where stdin is closed, which cannot be read, and ``/dev/null`` for the others.

    Else the first folder opened would get its number, and a value meant for stdout would go there.
    """
    for fd in (_STDIN, _STDOUT, _STDERR):
        try:
            os.fstat(fd)
        except OSError:
            if fd == _STDIN:
                os.open("/", os.O_RDONLY)
            else:
                os.open(os.devnull, os.O_RDWR)


def _errno_name(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, "?")


def _encode(text: str) -> bytes:
    """Half a surrogate pair, which UTF-8 cannot hold, becomes the replacement character."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole.encode("utf-8")
