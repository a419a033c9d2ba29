"""The variables that loading finds (WV-13)."""

from __future__ import annotations

from .entry_budget import root_budget, step_budget
from .file_size import file_size
from .folder import Verdict
from .key import WORKFLOW, fold_segment
from .step import Step
from .walk import walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence, Set


class Visible:
    __slots__ = ("relative", "full", "size")

    def __init__(self, relative: str | None, full: str, size: int) -> None:
        self.relative = relative
        """None where only the full key reaches it."""
        self.full = full
        self.size = size


def find_own(step: Step) -> tuple[list[Visible], set[str]]:
    """Own variables, and the relative keys that stop at the own folder: theirs, and the ambiguous ones,
    which loading refuses.
    """
    found: list[Visible] = []
    shadowing: set[str] = set()

    def visit(path: tuple[str, ...], verdict: Verdict) -> None:
        for segment, entry in verdict.leaves.items():
            size = file_size(entry)
            if size is None:
                continue
            segments = (*path, segment)
            relative = _relative_key(segments, step)
            if relative is not None:
                shadowing.add(relative)
            found.append(Visible(relative, step.path.full_key(segments), size))
        for entry in verdict.invalid:
            folded = fold_segment(entry.name) if entry.type == "file" else None
            relative = None if folded is None else _relative_key((*path, folded), step)
            if relative is not None:
                shadowing.add(relative)

    walk(step.own, step_budget(step.limits), visit)
    return found, shadowing


def find_others(step: Step, shadowing: Set[str]) -> list[Visible]:
    """Inputs and other steps' variables, but those that an own key hides."""
    found: list[Visible] = []

    def visit(path: tuple[str, ...], verdict: Verdict) -> None:
        # A file directly under the root belongs to no step.
        for segment, entry in verdict.leaves.items() if path else ():
            full = ".".join((*path, segment))
            size = None if full in shadowing else file_size(entry)
            if size is not None:
                found.append(Visible(None, full, size))

    walk(step.root, root_budget(), visit, lambda path: path != step.path.segments)
    return found


def _relative_key(own: Sequence[str], step: Step) -> str | None:
    """None where the relative form would not reach the own folder: ``workflow.x``, or ``judge.x`` in step
    ``judge``.
    """
    if own[0] == WORKFLOW or step.path.without_prefix(own) is not None:
        return None
    return ".".join(own)


def own_keys(step: Step) -> list[str]:
    """Every form in which an own variable can be asked for, sorted."""
    return _forms_of(find_own(step)[0])


def visible_keys(step: Step) -> list[str]:
    """Every form in which any visible variable can be asked for, sorted."""
    found, shadowing = find_own(step)
    return _forms_of(found + find_others(step, shadowing))


def _forms_of(visible: Sequence[Visible]) -> list[str]:
    return sorted(
        form for each in visible for form in (each.relative, each.full) if form is not None
    )
