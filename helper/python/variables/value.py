"""Values (WV-4): exact bytes that are valid UTF-8.

Nothing is trimmed, normalised or appended, a byte order mark included.
"""

from __future__ import annotations

from .errors import refusal


def decode_value(data: bytes, key: str) -> str:
    """Raises ``invalid_value`` where the bytes are not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        # Not chained, here and below: a UnicodeError holds the whole value.
        raise refusal(
            "invalid_value",
            f"the value of {key} is not valid UTF-8: encode it as UTF-8, binary data as base64",
            key=key,
            size=len(data),
        ) from None


def encode_value(text: str) -> bytes:
    """Raises ``invalid_value`` where the text has half a surrogate pair, which UTF-8 cannot hold."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise refusal(
            "invalid_value",
            "the value holds half of a surrogate pair, which UTF-8 cannot hold: the text was cut in the middle of a character",
        ) from None


def check_size(size: int, limit: int, key: str) -> None:
    """Raises ``value_too_large``, with the size and the limit (WV-5)."""
    if size > limit:
        raise _too_large(f"{size} bytes", key, size, limit)


def check_read_size(data: bytes, limit: int, key: str) -> None:
    """As ``check_size``, of bytes that were read to one past the limit: how many there are is not known."""
    if len(data) > limit:
        raise _too_large(f"more than {limit} bytes", key, None, limit)


def _too_large(text: str, key: str, size: int | None, limit: int) -> Exception:
    return refusal(
        "value_too_large",
        f"the value of {key} has {text}; the limit is {limit}: shorten it or split it over several keys",
        key=key,
        size=size,
        limit=limit,
    )
