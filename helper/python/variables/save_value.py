"""Writing a variable (WV-13)."""

from __future__ import annotations

from .key import checked_key
from .leaf_place import LeafPlace, with_leaf_place
from .own_segments import own_segments
from .replace_leaf import replace_leaf
from .step import OpenStep
from .step_limits import check_step_limits
from .value import check_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Saved:
    """A key: ``full`` is ``judge.findings.high``, ``own`` its segments from the own folder on."""

    __slots__ = ("full", "own")

    def __init__(self, full: str, own: Sequence[str]) -> None:
        self.full = full
        self.own = own


def save_value(environ: Mapping[str, str], key: str, value: bytes) -> Saved:
    """Writes a value, which must be valid UTF-8, into the own folder and gives its key.

    Whatever spelling holds the key is replaced atomically: a reader meets the old bytes or the new ones.
    Refuses what the pack would reject: ``invalid_key``, ``value_too_large``, ``step_files_exceeded`` and
    its kin, ``outside_own_step``, ``unsafe_path`` where a link or the like is in the way, ``disk_full``,
    and what ``OpenStep`` raises.
    """
    segments = checked_key(key)
    with OpenStep(environ, ".".join(segments)) as step:
        own = own_segments(segments, step)
        full = step.path.full_key(own)
        check_size(len(value), step.limits.max_value_bytes, full)

        def write(place: LeafPlace) -> None:
            check_step_limits(step, own, place, len(value))
            replace_leaf(place, value)

        with_leaf_place(step, own, write)
        return Saved(full, own)
