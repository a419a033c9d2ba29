"""The known name that a mistyped one was probably meant to be (WV-14)."""

from __future__ import annotations

from .utf16 import utf16_units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# Bounds that keep a suggestion cheap on names made to be slow: a long name gets none, and of the candidates
# of about its length only so many are compared.
_MAX_NAME_LENGTH = 64
_MAX_CANDIDATES = 256


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """None where no name is near. The first of equals."""
    length = len(utf16_units(name))
    if length > _MAX_NAME_LENGTH:
        return None
    folded = utf16_units(name.lower())
    # A name of one or two letters is within an edit or two of every other.
    allowed = 0 if length < 3 else 1 if length < 6 else 2
    nearest = None
    candidates = 0
    for candidate in known:
        if candidates == _MAX_CANDIDATES or allowed < 0:
            break
        if abs(len(candidate) - length) > allowed:
            continue
        candidates += 1
        edits = _count_edits(folded, candidate.lower(), allowed)
        if edits is not None:
            nearest, allowed = candidate, edits - 1
    return nearest


def suggest(name: str, known: Iterable[str]) -> str:
    """`` (did you mean `x`?)``, or nothing."""
    nearest = nearest_name(name, known)
    return "" if nearest is None else f" (did you mean `{nearest}`?)"


def _count_edits(a: str, b: str, allowed: int) -> int | None:
    """Letters changed, added, left out or swapped; None where over ``allowed``, which is small."""
    if abs(len(a) - len(b)) > allowed:
        return None
    same = 0
    while same < min(len(a), len(b)) and a[same] == b[same]:
        same += 1
    x, y = a[same:], b[same:]
    if x == y:
        return 0
    if allowed == 0:
        return None
    steps = [(1, 1), (1, 0), (0, 1)]
    if len(x) > 1 and x[:2] == y[1::-1]:
        steps.append((2, 2))
    counts = (_count_edits(x[skip_x:], y[skip_y:], allowed - 1) for skip_x, skip_y in steps)
    fewest = min((count for count in counts if count is not None), default=None)
    return None if fewest is None else fewest + 1
