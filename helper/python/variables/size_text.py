"""Sizes for a person."""

from __future__ import annotations


def size_text(size: int) -> str:
    """``1 byte``, ``5 bytes``."""
    return "1 byte" if size == 1 else f"{size} bytes"
