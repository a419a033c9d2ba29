"""The limits of WV-5, as ``.step`` gives them. They only inform here: the sidecar has its own."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .step_file import JsonObject

MAX_ROOT_ENTRIES = 65_536
"""Entries that a prefill brings at most."""

_MAX_COUNT = 2**53 - 1


class Limits:
    """Sizes in bytes; ``max_step_entries`` counts directory entries of any type."""

    __slots__ = ("max_value_bytes", "max_step_bytes", "max_step_files", "max_step_entries")

    def __init__(self) -> None:
        self.max_value_bytes = 1024**2
        self.max_step_bytes = 16 * 1024**2
        self.max_step_files = 1024
        self.max_step_entries = 16_384


def parse_limits(untrusted_step_file: JsonObject) -> Limits:
    """Whatever is absent, or not a count from 1, keeps its default."""
    limits = Limits()
    given = untrusted_step_file.get("limits")
    if isinstance(given, dict):
        for name in Limits.__slots__:
            value = given.get(name)
            if isinstance(value, float) and value.is_integer() and 1 <= value <= _MAX_COUNT:
                setattr(limits, name, int(value))
    return limits
