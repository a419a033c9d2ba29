"""``wfvar`` (WV-14) where there is no Node: word for word what the JavaScript command says and does."""

from __future__ import annotations

from .errors import VariablesError, to_variables_error
from .escape import escape_text
from .process_io import ProcessIo
from .words import argument_text, read_words, usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

_COMMANDS = ("get", "set", "unset", "list", "path", "check", "brief", "mcp")

# 1 absent, 2 wrong key, value or words, 3 over a limit, 4 not ours to write, 5 the environment.
_EXIT_CODES = {
    "not_found": 1,
    "invalid_key": 2,
    "ambiguous_key": 2,
    "invalid_value": 2,
    "usage": 2,
    "value_too_large": 3,
    "step_entries_exceeded": 3,
    "step_files_exceeded": 3,
    "step_bytes_exceeded": 3,
    "outside_own_step": 4,
    "no_variables": 5,
    "unsafe_path": 5,
    "disk_full": 5,
    "io_error": 5,
}


def run_cli(argv: Sequence[str], io: ProcessIo) -> int:
    """Runs the command that the arguments after the program's name give, and returns the exit code.

    Every failure is one line on stderr, ``wfvar: <code>: <what, which, limit, what to do>``, and never
    holds a value.
    """
    try:
        return _run(argv, io)
    except Exception as error:
        refused = to_variables_error(error)
        io.write_error(f"wfvar: {refused.code}: {escape_text(refused.message)}")
        return _EXIT_CODES[refused.code]


def _run(argv: Sequence[str], io: ProcessIo) -> int:
    if not argv:
        raise usage("no command")
    name, rest = argv[0], argv[1:]
    if name == "help" and rest and not rest[0].startswith("-"):
        return _run([rest[0], "--help", *rest[1:]], io)
    if name in ("--help", "-h", "help", "--version"):
        if rest:
            raise usage(f"{name} stands alone")
        io.write_out(_version() if name == "--version" else _overview())
        return 0
    command = _command(name)
    if command is None:
        raise _unknown_command(name)
    words = read_words(name, rest, command.SYNTAX)
    if words is None:
        io.write_out(command.HELP)
        return 0
    exit_code: int = command.run(words, io)
    return exit_code


def _unknown_command(name: str) -> VariablesError:
    from .nearest_name import suggest

    nearest = suggest(argument_text(name), [*_COMMANDS, "--help", "--version"])
    return usage(f"unknown command{nearest}; the commands are {', '.join(_COMMANDS)}")


def _command(name: str) -> ModuleType | None:
    """Imports that command alone: a start of Python pays for every module."""
    if name == "get":
        from .commands import get

        return get
    if name == "set":
        from .commands import set as set_

        return set_
    if name == "unset":
        from .commands import unset

        return unset
    if name == "list":
        from .commands import list as list_

        return list_
    if name == "path":
        from .commands import path

        return path
    if name == "check":
        from .commands import check

        return check
    if name == "brief":
        from .commands import brief

        return brief
    if name == "mcp":
        from .commands import mcp

        return mcp
    return None


def _version() -> str:
    from .version import version

    return f"wfvar {version}\n"


def _overview() -> str:
    commands = ((name, _command(name)) for name in _COMMANDS)
    lines = [f"  {name:8} {command.SUMMARY}" for name, command in commands if command is not None]
    return _OVERVIEW.format(commands="\n".join(lines))


_OVERVIEW = """Usage: wfvar COMMAND [ARGUMENTS]

Reads the variables that the run and earlier steps left under /variables, and writes this step's own.

{commands}

  wfvar COMMAND --help    what a command takes
  wfvar --version

Exit codes: 0 ok, 1 not found, 2 bad key, value or words, 3 over a size limit, 4 write outside the own step, 5 the environment.
"""
