"""What would come of the step if it ended now (WV-10, WV-11, WV-14)."""

from __future__ import annotations

from ..declared_outputs import DeclaredOutput, declared_outputs
from ..step import Step
from .issue import list_issues
from .strays import find_strays
from .survey import survey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .issue import ListedIssue


class CheckReport:
    """``outputs`` are as declared, each with whether a value is accepted under its key; kinds are not
    checked.
    """

    __slots__ = ("step", "ok", "accepted", "rejected", "skipped", "outputs")

    def __init__(
        self,
        step: str,
        accepted: list[tuple[str, int]],
        rejected: list[ListedIssue],
        skipped: list[ListedIssue],
        outputs: list[tuple[DeclaredOutput, bool]],
    ) -> None:
        self.step = step
        self.accepted = accepted
        """Full keys, sorted, and sizes in bytes."""
        self.rejected = rejected
        self.skipped = skipped
        self.outputs = outputs
        missing = any(output.required and not present for output, present in outputs)
        self.ok = not rejected and not missing
        """Nothing is rejected, and no required output is missing."""


def check_step(step: Step) -> CheckReport:
    """A dry run of the pack: the same rules over the same folder, changing nothing, under ``.step``'s limits.

    Every value is read. Raises what a walk of the own folder raises.
    """
    seen = survey(step)
    keys = {key for key, _size in seen.accepted}
    outputs = declared_outputs(step.untrusted_step_file)
    return CheckReport(
        step.path.text,
        sorted(seen.accepted),
        list_issues(seen.rejected),
        list_issues(seen.skipped + find_strays(step)),
        [(output, step.path.full_key([output.key]) in keys) for output in outputs],
    )
