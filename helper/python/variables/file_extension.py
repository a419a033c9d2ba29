"""File names that were given for keys: ``report.md`` is the file ``MD`` in the folder ``report``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_EXTENSIONS = ("md", "txt", "json", "yaml", "yml", "csv", "html", "log")


def without_extension(segments: Sequence[str]) -> Sequence[str] | None:
    """The key that was meant; None where the last segment is no extension, or the only one."""
    return segments[:-1] if len(segments) > 1 and segments[-1] in _EXTENSIONS else None
