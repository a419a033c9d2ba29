"""Something that a pack would leave out or pass over (WV-11)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Details = Mapping[str, "str | int"]
    ListedIssue = dict[str, "str | int"]

# The longest path that an issue carries; longer ones are cut.
_MAX_PATH_LENGTH = 512


class Issue:
    __slots__ = ("code", "path", "advice", "details")

    def __init__(self, code: str, path: bytes, advice: str, details: Details) -> None:
        self.code = code
        self.path = path
        """Relative to the own folder; empty for the own folder itself."""
        self.advice = advice
        """What to do about it, for a person."""
        self.details = details
        """``key`` in full, ``size``, ``limit``, as far as they are known."""


def list_issues(issues: Iterable[Issue]) -> list[ListedIssue]:
    """As a pack lists them: the path escaped, ``.`` for the own folder, sorted by path bytes."""
    ordered = sorted(issues, key=lambda issue: (issue.path, issue.code))
    return [
        {
            "code": each.code,
            "path": escape_path(each.path) or ".",
            "advice": each.advice,
            **each.details,
        }
        for each in ordered
    ]


def escape_path(path: bytes) -> str:
    """Bytes outside printable ASCII, and the backslash, become ``\\xNN``."""
    escaped = "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte != 0x5C else f"\\x{byte:02x}"
        for byte in path[:_MAX_PATH_LENGTH]
    )
    return escaped[:_MAX_PATH_LENGTH]
