"""A walk's bound: a hostile or broken folder must not hang the helper (WV-5, WV-13)."""

from __future__ import annotations

from .errors import VariablesError, refusal
from .limits import MAX_ROOT_ENTRIES, Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class EntryBudget:
    """Counts directory entries up to a limit; the functions below make one."""

    __slots__ = ("spent", "_limit", "_exceeded")

    def __init__(self, limit: int, exceeded: Callable[[int], VariablesError]) -> None:
        self.spent = 0
        self._limit = limit
        self._exceeded = exceeded

    def spend(self) -> None:
        """Raises at the first entry past the limit."""
        self.spent += 1
        if self.spent > self._limit:
            raise self._exceeded(self._limit)


def step_budget(limits: Limits) -> EntryBudget:
    """For the own folder: past it the pack takes nothing at all."""
    return EntryBudget(limits.max_step_entries, entries_exceeded)


def root_budget() -> EntryBudget:
    """For everything under the root: a prefill brings no more."""
    return EntryBudget(MAX_ROOT_ENTRIES, _too_many_at_root)


def entries_exceeded(limit: int) -> VariablesError:
    """``step_entries_exceeded``, also of a save that would go past the limit."""
    return refusal(
        "step_entries_exceeded",
        f"the step's own folder has more entries than its limit of {limit}, and past it no value is accepted: remove some",
        limit=limit,
    )


def _too_many_at_root(limit: int) -> VariablesError:
    return refusal(
        "unsafe_path",
        f"more than {limit} entries beside the step's own folder, where only inputs belong: remove what was put there",
        limit=limit,
    )
