"""What stands where no variable can (WV-11)."""

from __future__ import annotations

import os

from ..descriptors import Descriptor, open_folder_at
from ..step import Step
from .advice import ADVICE
from .issue import Issue


def find_strays(step: Step) -> list[Issue]:
    """Anything but folders and dotfiles at the root, or beside the own folder of a loop step.

    Paths are relative to the root. Looks at ``max_step_entries`` of each and no more.
    """
    max_entries = step.limits.max_step_entries
    paths = _strays_in(step.root.fds[0], "", max_entries)
    for loop_folder in step.path.segments[:-1]:
        fd = open_folder_at(step.root.fds[0], loop_folder, step.root.mount)
        if isinstance(fd, int):
            with Descriptor(fd):
                paths += _strays_in(fd, f"{loop_folder}/", max_entries)
    return [Issue("stray_at_root", path, ADVICE["stray_at_root"], {}) for path in paths]


def _strays_in(fd: int, prefix: str, max_entries: int) -> list[bytes]:
    strays: list[bytes] = []
    try:
        with os.scandir(fd) as found:
            for _, entry in zip(range(max_entries), found):
                if not entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                    strays.append(os.fsencode(prefix + entry.name))
    except OSError:
        # A folder that was closed hides its strays, and no more.
        pass
    return strays
