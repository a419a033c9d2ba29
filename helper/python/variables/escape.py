"""Untrusted text made safe to print."""

from __future__ import annotations

# Control characters, line ends and those that turn the writing direction.
_UNPRINTABLE = (
    *range(0x20),
    *range(0x7F, 0xA0),
    0x2028,
    0x2029,
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
    0xFEFF,
)


def escape_text(text: str) -> str:
    """On one line of a terminal: what would not print becomes ``\\xNN`` or ``\\u{…}``."""
    return text.translate(
        {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}" for code in _UNPRINTABLE}
    )
