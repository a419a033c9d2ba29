"""Step paths (WV-3): ``judge``, ``review-loop_2.judge``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
_MAX_STEP_ID = 64
_MAX_LOOP_ID = 56
_MAX_ITERATION_DIGITS = 6

# A test holds this list to the contract's.
RESERVED_WORDS = frozenset(
    [
        "workflow",
        "while",
        "for",
        "foreach",
        "loop",
        "until",
        "do",
        "repeat",
        "if",
        "else",
        "elif",
        "elseif",
        "then",
        "switch",
        "case",
        "default",
        "when",
        "break",
        "continue",
        "return",
        "goto",
        "yield",
        "try",
        "catch",
        "except",
        "finally",
        "raise",
        "throw",
        "and",
        "or",
        "not",
        "xor",
        "in",
        "is",
        "true",
        "false",
        "null",
        "none",
        "nil",
        "yes",
        "no",
        "on",
        "off",
    ]
)


class StepPath:
    """A step as keys and folders name it."""

    __slots__ = ("segments", "text")

    def __init__(self, segments: tuple[str, ...]) -> None:
        self.segments = segments
        """Folders from the root: ``("review-loop_2", "judge")``."""
        self.text = ".".join(segments)
        """Key notation, lowercase."""

    def without_prefix(self, segments: Sequence[str]) -> Sequence[str] | None:
        """The rest of a key that spells the step's full prefix, which always means the own folder
        (WV-13); else None.
        """
        length = len(self.segments)
        if len(segments) > length and tuple(segments[:length]) == self.segments:
            return segments[length:]
        return None

    def full_key(self, own: Sequence[str]) -> str:
        """The full key of an own one."""
        return ".".join((self.text, *own))


def parse_step_path(text: str) -> StepPath | None:
    """Reads a step path in key notation, in any case; None where it is not one."""
    if not text.isascii():
        return None
    parts = tuple(text.lower().split("."))
    if len(parts) == 1:
        return StepPath(parts) if _is_id(parts[0], _MAX_STEP_ID) else None
    if len(parts) != 2:
        return None
    loop, _, digits = parts[0].rpartition("_")
    is_iteration = (
        0 < len(digits) <= _MAX_ITERATION_DIGITS and _all_in(digits, _DIGITS) and digits[0] != "0"
    )
    if is_iteration and _is_id(loop, _MAX_LOOP_ID) and _is_id(parts[1], _MAX_STEP_ID):
        return StepPath(parts)
    return None


def _is_id(text: str, max_length: int) -> bool:
    if (
        not 0 < len(text) <= max_length
        or text[0] not in _LETTERS
        or not _all_in(text, _LETTERS + _DIGITS + "-_")
    ):
        return False
    _, underscore, digits = text.rpartition("_")
    ends_as_iteration = underscore != "" and digits != "" and _all_in(digits, _DIGITS)
    return not ends_as_iteration and text not in RESERVED_WORDS


def _all_in(text: str, alphabet: str) -> bool:
    return text.strip(alphabet) == ""
