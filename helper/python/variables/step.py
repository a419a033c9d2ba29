"""Finding this step, its limits and its folders (WV-1, WV-13)."""

from __future__ import annotations

import os

from .descriptors import (
    ABSENT,
    Descriptor,
    mount_of,
    open_file_at,
    open_folder,
    open_folder_at,
)
from .errors import VariablesError, refusal, to_variables_error
from .escape import escape_text
from .folder import Folder
from .limits import Limits, parse_limits
from .obstacle import OBSTACLE_TEXTS
from .step_file import parse_json_object
from .step_path import StepPath, parse_step_path
from .streams import read_up_to

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .step_file import JsonObject

_DEFAULT_ROOT = "/variables"
_ROOT_VARIABLE = "WORKFLOW_VARIABLES_ROOT"
_SELF_VARIABLE = "WORKFLOW_VARIABLES_SELF"
_SELF_FILE = ".self"
_STEP_FILE = ".step"
# `.step` declares at most 1024 outputs; a larger file is not one.
_MAX_STEP_FILE_BYTES = 1024**2
# Linux's PATH_MAX.
_MAX_PATH_BYTES = 4096


class Step:
    """This step and what it sees, its folders open."""

    __slots__ = ("path", "self_path", "untrusted_step_file", "limits", "root", "own")

    def __init__(
        self,
        path: StepPath,
        self_path: str,
        untrusted_step_file: JsonObject,
        root: Folder,
        own: Folder,
    ) -> None:
        self.path = path
        self.self_path = self_path
        """Path of the own folder."""
        self.untrusted_step_file = untrusted_step_file
        """``.step`` as it stands, which the agent may have written; empty where there is none."""
        # Limits only inform here: the sidecar has its own.
        self.limits: Limits = parse_limits(untrusted_step_file)
        self.root = root
        self.own = own


class OpenStep:
    """Finds the step from the two variables, else ``/variables`` and then ``.self``.

    Its folders are open inside the ``with``. Raises VariablesError alone: ``no_variables``,
    ``unsafe_path``, and the system's errors, those of the ``with`` block as well, as ``io_error`` or
    ``disk_full``, of ``key`` if one is given.
    """

    def __init__(self, environ: Mapping[str, str], key: str | None = None) -> None:
        self._environ = environ
        self._key = key

    def __enter__(self) -> Step:
        try:
            self._step = _open(self._environ)
        except VariablesError:
            # Some are an OSError themselves.
            raise
        except OSError as error:
            raise to_variables_error(error, self._key) from error
        return self._step

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> None:
        self._step.own.close()
        self._step.root.close()
        if isinstance(error, OSError) and not isinstance(error, VariablesError):
            raise to_variables_error(error, self._key) from error


def _open(environ: Mapping[str, str]) -> Step:
    given = _tidy_path(environ.get(_ROOT_VARIABLE), _ROOT_VARIABLE)
    root_path = given or _DEFAULT_ROOT
    root_origin = _ROOT_VARIABLE if given else None
    named_root = _NamedFolder("the folder of variables", root_path, root_origin, _ROOT_VARIABLE)
    root_fd = _must(open_folder(root_path), named_root)
    try:
        mount = mount_of(root_fd)
        path, self_path, origin = _find_self(environ, root_path, root_fd)
        named_own = _NamedFolder("the step's own folder", self_path, origin, _SELF_VARIABLE)
        # One that does not parse is none, so that the defaults hold.
        step_file = _read_root_file(root_fd, _STEP_FILE, _MAX_STEP_FILE_BYTES)
        untrusted = {} if step_file is None else parse_json_object(step_file)
        own_fd = _open_own(root_fd, path, mount, named_own)
    except BaseException:
        os.close(root_fd)
        raise
    root = Folder("root", 0, mount, [root_fd])
    own = Folder("step", len(path.segments), mount, [own_fd])
    return Step(path, self_path, untrusted, root, own)


def _find_self(
    environ: Mapping[str, str], root_path: str, root_fd: int
) -> tuple[StepPath, str, str]:
    """The step, its folder's path, and what names it."""
    origin = _SELF_VARIABLE
    self_path = _tidy_path(environ.get(_SELF_VARIABLE), origin)
    if self_path is None:
        origin = _SELF_FILE
        self_file = _read_root_file(root_fd, _SELF_FILE, _MAX_PATH_BYTES)
        self_path = None if self_file is None else _tidy_path(os.fsdecode(self_file), origin)
    if self_path is None:
        raise refusal(
            "no_variables",
            f"neither {_SELF_VARIABLE} nor {_SELF_FILE} says which folder is the step's own: run inside a step",
        )
    prefix = root_path if root_path.endswith("/") else root_path + "/"
    path = (
        parse_step_path(self_path[len(prefix) :].replace("/", "."))
        if self_path.startswith(prefix)
        else None
    )
    if path is None:
        raise refusal(
            "no_variables",
            f"{_printable(self_path)} (from {origin}) is no step's folder: it must be <step> or <loop>_<n>/<step> below "
            f"{_printable(root_path)}",
        )
    return path, self_path, origin


class _NamedFolder:
    """A folder as messages name it, and the variable that would say where it is."""

    __slots__ = ("what", "path", "origin", "variable")

    def __init__(self, what: str, path: str, origin: str | None, variable: str) -> None:
        self.what = what
        self.path = path
        self.origin = origin
        """What named it; None for the default."""
        self.variable = variable

    def text(self) -> str:
        source = "" if self.origin is None else f" (from {self.origin})"
        return f"{self.what} {_printable(self.path)}{source}"


def _open_own(root_fd: int, path: StepPath, mount: str | None, own: _NamedFolder) -> int:
    fd = _must(open_folder_at(root_fd, path.segments[0], mount), own)
    for segment in path.segments[1:]:
        with Descriptor(fd) as outer:
            fd = _must(open_folder_at(outer, segment, mount), own)
    return fd


def _must(fd: int | str, folder: _NamedFolder) -> int:
    if isinstance(fd, int):
        return fd
    if fd == ABSENT:
        raise refusal(
            "no_variables",
            f"{folder.text()} does not exist: run inside a step, or set {folder.variable} to where it is",
        )
    raise refusal(
        "unsafe_path", f"{folder.text()} {OBSTACLE_TEXTS[fd]}: put a plain folder there"
    )


def _printable(path: str) -> str:
    return escape_text(os.fsencode(path).decode("utf-8", "replace"))


def _read_root_file(root_fd: int, name: str, max_bytes: int) -> bytes | None:
    """A file directly under the root; None where there is none, or no plain one of that size."""
    fd = open_file_at(root_fd, name)
    if isinstance(fd, str):
        return None
    with Descriptor(fd):
        data = read_up_to(fd, max_bytes + 1)
    return None if len(data) > max_bytes else data


def _tidy_path(path: str | None, origin: str) -> str | None:
    """Empty is missing. Doubled and trailing slashes go: with a trailing one the kernel follows a link."""
    if not path:
        return None
    if not path.startswith("/"):
        raise refusal(
            "no_variables",
            f"{origin} must hold an absolute path, and does not begin with a slash",
        )
    while "//" in path:
        path = path.replace("//", "/")
    return path if path == "/" else path.rstrip("/")
