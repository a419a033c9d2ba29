"""Removing a file that another writer may have removed."""

from __future__ import annotations

import os


def unlink_if_there(dir_fd: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=dir_fd)
    except FileNotFoundError:
        pass
