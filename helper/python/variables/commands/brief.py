"""``wfvar brief``: what an agent must know of its step, for its own context (WV-14)."""

from __future__ import annotations

from ..brief import format_brief
from ..process_io import ProcessIo
from ..step import OpenStep
from ..words import Syntax, Words

SUMMARY = "print what an agent must know of this step, in Markdown"

HELP = """Usage: wfvar brief

Prints Markdown for an agent's own context: which step of which run it is, what it can read now, what it must hand off, how to
read and write, and what not to do. Keys and sizes, no values.
"""

SYNTAX = Syntax({}, min_words=0, max_words=0)


def run(_words: Words, io: ProcessIo) -> int:
    with OpenStep(io.environ) as step:
        text = format_brief(step)
    io.write_out(text)
    return 0
