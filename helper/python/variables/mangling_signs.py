"""The marks that agents' shells leave on an argument (WV-14)."""

from __future__ import annotations

from .escape import escape_text


def mangling_signs(argument: str) -> list[str]:
    """``!`` comes as ``\\!``, and a newline typed as ``\\n`` stays two characters. A misspelt flag is a
    value.

    Each sign completes "<key> …" and quotes nothing of the value but a flag's near miss.
    """
    signs: list[str] = []
    if "\\!" in argument:
        signs.append(
            "holds \\! where the shell may have had !: if so, store it again with --file or --stdin"
        )
    if "\\n" in argument and "\n" not in argument:
        signs.append(
            "holds a literal \\n and no newline: if one was meant, store it again with --file or --stdin"
        )
    flag = _flag_meant(argument)
    if argument.startswith("--file="):
        signs.append(
            "holds the text --file=…: to store a file's bytes, write --file F as two words"
        )
    elif flag is not None:
        signs.append(f'holds the text "{escape_text(argument)}": did you mean {flag}?')
    return signs


def _flag_meant(argument: str) -> str | None:
    """A flag itself only comes here after ``--``: then it is the value."""
    if argument == "-":
        return "--stdin"
    if argument in ("--help", "-h"):
        return "wfvar set --help"
    flags = ("--file", "--stdin")
    if argument in flags or not argument.startswith("-"):
        return None
    from .nearest_name import nearest_name

    return nearest_name(argument, flags)
