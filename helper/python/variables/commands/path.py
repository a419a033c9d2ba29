"""``wfvar path``: the own folder, for tools that write files themselves (WV-14)."""

from __future__ import annotations

import os

from ..process_io import ProcessIo
from ..step import OpenStep
from ..words import Syntax, Words

SUMMARY = "print the path of this step's own folder"

HELP = """Usage: wfvar path

Prints the path of this step's own folder and a newline. A file `VERDICT` there is the key `verdict`.
"""

SYNTAX = Syntax({}, min_words=0, max_words=0)


def run(words: Words, io: ProcessIo) -> int:
    with OpenStep(io.environ) as step:
        path = step.self_path
    io.write_out(os.fsencode(path) + b"\n")
    return 0
