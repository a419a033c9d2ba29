"""A command's arguments (WV-14)."""

from __future__ import annotations

from .errors import VariablesError, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Syntax:
    """What a command takes."""

    __slots__ = ("flags", "min_words", "max_words", "literal_from")

    def __init__(
        self,
        flags: dict[str, bool],
        min_words: int,
        max_words: int,
        literal_from: int | None = None,
    ) -> None:
        self.flags = flags
        """Flags, and whether each takes the next word."""
        self.min_words = min_words
        self.max_words = max_words
        self.literal_from = literal_from
        """From this word on, what is not exactly one of the flags is a word, whatever it looks like."""

    def is_literal(self, position: int) -> bool:
        return self.literal_from is not None and position >= self.literal_from


class Words:
    """What a command was given; bytes that are no UTF-8 stand as surrogates (PEP 383)."""

    __slots__ = ("words", "flags")

    def __init__(self, words: list[str], flags: dict[str, str]) -> None:
        self.words = words
        self.flags = flags
        """Flags given, with their word or an empty one."""


def read_words(name: str, argv: Sequence[str], syntax: Syntax) -> Words | None:
    """Splits arguments into words and flags; None where help is asked for.

    Raises ``usage``. Messages never quote an argument: a mistyped command line may hold a value anywhere.
    """
    words: list[str] = []
    flags: dict[str, str] = {}
    flag_like = None
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word == "--":
            words += rest
            break
        if word in syntax.flags:
            if syntax.flags[word] and not rest:
                raise usage(f"{word} needs a word after it", name)
            value = rest.pop(0) if syntax.flags[word] else ""
            if word in flags:
                raise usage(f"{word} is given twice", name)
            flags[word] = value
        elif not word.startswith("-") or syntax.is_literal(len(words)):
            words.append(word)
            if flag_like is None and _looks_like_flag(word):
                flag_like = word
        elif word in ("--help", "-h"):
            return None
        else:
            raise _unknown_flag(word, name, syntax)
    if len(words) < syntax.min_words:
        raise usage("no KEY", name)
    extra = len(words) - syntax.max_words
    if extra > 0:
        if flag_like is not None:
            raise _unknown_flag(flag_like, name, syntax)
        many = "1 word" if extra == 1 else f"{extra} words"
        raise usage(f"{many} too many; quote what holds blanks", name)
    return Words(words, flags)


def _looks_like_flag(word: str) -> bool:
    letter = word[2:3] if word.startswith("--") else word[1:2]
    return word.startswith("-") and letter.isascii() and letter.isalpha()


def _unknown_flag(word: str, name: str, syntax: Syntax) -> VariablesError:
    from .nearest_name import suggest

    flag = word.split("=", 1)[0]
    if flag != word and flag in syntax.flags:
        return usage(
            f"write {flag} and what belongs to it as two words, without ="
            if syntax.flags[flag]
            else f"{flag} stands alone, without =",
            name,
        )
    return usage(f"unknown flag{suggest(argument_text(word), [*syntax.flags, '--help'])}", name)


def argument_text(word: str) -> str:
    """A word as text: what is no UTF-8 becomes replacement characters."""
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def argument_bytes(word: str) -> bytes:
    """Raises ``invalid_value`` where the word is not UTF-8."""
    try:
        return word.encode("utf-8")
    except UnicodeEncodeError:
        raise refusal(
            "invalid_value",
            "the value on the command line is not valid UTF-8: encode it as UTF-8, binary data as base64",
        ) from None


def usage(problem: str, command: str | None = None) -> VariablesError:
    """The error for a command line that makes no sense; says where help is."""
    page = "wfvar --help" if command is None else f"wfvar {command} --help"
    return refusal("usage", f"{problem}: see {page}")
