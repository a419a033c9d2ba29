"""The limits of the whole step (WV-5, WV-13): past one of them the pack accepts nothing at all."""

from __future__ import annotations

from .entry_budget import entries_exceeded, step_budget
from .errors import VariablesError, refusal
from .file_size import file_size
from .folder import Verdict
from .leaf_place import LeafPlace
from .step import Step
from .walk import walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def check_step_limits(step: Step, segments: Sequence[str], place: LeafPlace, new_size: int) -> None:
    """Raises where ``new_size`` bytes at that place would put the own folder past a limit. Counts as the
    pack does.

    ``step_entries_exceeded``, ``step_files_exceeded`` or ``step_bytes_exceeded``.
    """
    limits = step.limits
    budget = step_budget(limits)
    files = 1 - len(place.existing)
    total = new_size

    def visit(path: tuple[str, ...], verdict: Verdict) -> None:
        nonlocal files, total
        files += verdict.files
        for segment, entry in verdict.leaves.items():
            if [*path, segment] == list(segments):
                continue
            size = file_size(entry) or 0
            if size <= limits.max_value_bytes:
                total += size

    walk(step.own, budget, visit)
    if budget.spent + len(place.missing) + 1 - len(place.existing) > limits.max_step_entries:
        raise entries_exceeded(limits.max_step_entries)
    if files > limits.max_step_files:
        raise _past_limit("step_files_exceeded", "files", files, limits.max_step_files)
    if total > limits.max_step_bytes:
        raise _past_limit("step_bytes_exceeded", "bytes", total, limits.max_step_bytes)


def _past_limit(code: str, unit: str, size: int, limit: int) -> VariablesError:
    return refusal(
        code,
        f"the step would have {size} {unit} in all; the limit is {limit}, and past it no value is accepted: remove some first",
        size=size,
        limit=limit,
    )
