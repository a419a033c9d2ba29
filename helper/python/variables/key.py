"""Keys (WV-2): the lowercased path from the root to a leaf, joined by dots.

ASCII is checked before lowercasing, because U+212A and its kind lowercase into letters.
"""

from __future__ import annotations

from .errors import InvalidError, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

MAX_SEGMENTS = 8
"""Segments of a key, counted from the root."""
MAX_SEGMENT_BYTES = 64
MAX_FLAT_NAME_BYTES = 255
"""Bytes of a flat file name under ``workflow/``: the file system's own limit."""
WORKFLOW = "workflow"
"""The folder of the run's frozen inputs, and the first segment of their keys."""

_DEFAULT_ROOT = "/variables"
_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789-_"


def fold_segment(name: str) -> str | None:
    """The segment that a file or folder name stands for, or None where it breaks the rule."""
    if not 0 < len(name) <= MAX_SEGMENT_BYTES or not name.isascii():
        return None
    segment = name.lower()
    # Stripping the whole alphabet from both ends leaves nothing only where there is nothing else.
    return None if segment[0] in "-_" or segment.strip(_ALPHABET) else segment


def fold_flat_name(name: str) -> str | None:
    """``item.uuid`` of a name in any case; None where ``workflow.<name>`` is no key."""
    segments = [fold_segment(part) for part in name.split(".")]
    if None in segments or len(segments) >= MAX_SEGMENTS or len(name) > MAX_FLAT_NAME_BYTES:
        return None
    return name.lower()


def checked_key(text: str) -> list[str]:
    """The segments of a key in any case. Shape only: says nothing of what exists.

    Raises ``invalid_key``, without what was given, unless that is a key written as a path: a caller who
    mixed up arguments may have given a value.
    """
    try:
        return _segments_of(text)
    except InvalidError:
        if "/" not in text:
            raise
    path = text[len(_DEFAULT_ROOT) + 1 :] if text.startswith(f"{_DEFAULT_ROOT}/") else text
    try:
        meant = ".".join(_segments_of(path.replace("/", ".")))
    except InvalidError:
        meant = "as in findings.high"
    raise refusal("invalid_key", f"a key joins names by dots, not slashes: {meant}")


def _segments_of(text: str) -> list[str]:
    segments: list[str] = []
    for part in text.split(".") if text else []:
        segment = fold_segment(part)
        if segment is None:
            raise _invalid(_explain_segment(part))
        segments.append(segment)
    if not segments:
        raise _invalid("the key is empty")
    if len(segments) > MAX_SEGMENTS:
        raise _invalid(f"the key has {len(segments)} segments; the limit is {MAX_SEGMENTS}")
    if segments[0] == WORKFLOW and len(".".join(segments[1:])) > MAX_FLAT_NAME_BYTES:
        raise _invalid(f"a workflow name is at most {MAX_FLAT_NAME_BYTES} bytes")
    return segments


def _invalid(problem: str) -> Exception:
    return refusal("invalid_key", f"{problem}; keys look like verdict or findings.high")


def _explain_segment(part: str) -> str:
    if part == "":
        return "a segment is empty: no leading, trailing or double dots"
    # UTF-16 units, as the JavaScript helper counts them: both say the same.
    length = len(part.encode("utf-16-le", "surrogatepass")) // 2
    if length > MAX_SEGMENT_BYTES:
        return f"a segment has {length} characters; the limit is {MAX_SEGMENT_BYTES}"
    return "segments are letters, digits, `-` and `_`, and start with a letter or digit"
