"""What a checked key means to a writer (WV-13)."""

from __future__ import annotations

from .entry_budget import root_budget
from .errors import refusal
from .key import MAX_SEGMENTS, WORKFLOW
from .step import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def own_segments(segments: Sequence[str], step: Step) -> Sequence[str]:
    """The key from the own folder on.

    Raises ``outside_own_step`` where it means another one, ``invalid_key`` where it is too deep.
    """
    in_own = step.path.without_prefix(segments)
    if in_own is not None:
        return in_own
    first = segments[0]
    if first == WORKFLOW or _is_others_folder(first, step):
        raise refusal(
            "outside_own_step",
            f"{first} names a folder outside the step's own, and only the own one is written: if an own key is meant, write "
            f"{step.path.text}.<key>",
            key=".".join(segments),
        )
    depth = len(step.path.segments) + len(segments)
    if depth > MAX_SEGMENTS:
        # Counted from the root, as the pack counts.
        raise refusal(
            "invalid_key",
            f"the key has {depth} segments with the step's own prefix {step.path.text}; the limit is {MAX_SEGMENTS}",
            size=depth,
            limit=MAX_SEGMENTS,
        )
    return segments


def _is_others_folder(segment: str, step: Step) -> bool:
    """True where it names a folder under the root, in any case, that is not the own one. A loop's folder
    is not the own one.
    """
    return segment != step.path.text and segment in step.root.list(root_budget()).folders
