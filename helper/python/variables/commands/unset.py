"""``wfvar unset``: takes a value back before the step ends (WV-14)."""

from __future__ import annotations

from ..process_io import ProcessIo
from ..unset_value import unset_value
from ..words import Syntax, Words, argument_text

SUMMARY = "remove a value from this step's own folder"

HELP = """Usage: wfvar unset [-q] KEY

Removes the value of KEY, in any case, from this step's own folder: every file that spells it. Other steps' values and inputs
cannot be removed.

  -q   do not say what was removed

Exit codes: 0 removed, 1 not found, 2 bad key or words, 4 not this step's to write, 5 no usable /variables.
"""

SYNTAX = Syntax({"-q": False}, min_words=1, max_words=1)


def run(words: Words, io: ProcessIo) -> int:
    full = unset_value(io.environ, argument_text(words.words[0]))
    if "-q" not in words.flags:
        io.write_error(f"{full}: removed")
    return 0
