"""The marks that agents' shells leave on an argument (WV-14)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass


def mangling_signs(argument: str) -> list[str]:
    """``!`` comes as ``\\!``, and a newline typed as ``\\n`` stays two characters.

    Each sign completes "<key> …" and quotes nothing of the value.
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
    if argument.startswith("--file="):
        signs.append(
            "holds the text --file=…: to store a file's bytes, write --file F as two words"
        )
    return signs
