"""What to say of a key that does not exist (WV-14)."""

from __future__ import annotations

from .file_extension import without_extension
from .nearest_name import nearest_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_NO_IDEA = ": list the keys to see which are"


def suggest_key(segments: Sequence[str], known: Callable[[], Sequence[str]]) -> str:
    """``; did you mean judge.verdict?``, or to list the keys: to end a message with.

    The key without a file's extension where that exists, else the nearest of the known ones. None of them
    where they cannot be listed: that is not what the caller asked for.
    """
    try:
        keys = known()
    except Exception:
        keys = ()
    bare = without_extension(segments)
    nearest = None if bare is None or ".".join(bare) not in keys else ".".join(bare)
    nearest = nearest or nearest_name(".".join(segments), keys)
    return _NO_IDEA if nearest is None else f"; did you mean {nearest}?"
