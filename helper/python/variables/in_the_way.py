"""``unsafe_path`` of a write."""

from __future__ import annotations

from .errors import VariablesError, refusal


def in_the_way(key: str, segment: str) -> VariablesError:
    """On the way to the key, or in its place, stands what is never gone into (WV-11)."""
    return refusal(
        "unsafe_path",
        f"on the way to {key}, {segment} is a link, a pipe, a device, another mount, a closed folder or "
        "one of more than 64 spellings, "
        "and is never gone into: remove it",
        key=key,
    )
