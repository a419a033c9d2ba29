"""``wfvar get``: the exact bytes, nothing added (WV-14)."""

from __future__ import annotations

from ..load_value import find_value, load_value
from ..process_io import ProcessIo
from ..words import Syntax, Words, argument_bytes, argument_text

SUMMARY = "print a value, exactly its bytes"

HELP = """Usage: wfvar get KEY [--default V]

Prints the value's exact bytes, with no newline added. KEY is in any case: `verdict` is this step's own, `plan.summary` is of
step `plan`, `workflow.item.title` is an input. An own key comes before another step's.

  --default V   print V where the key does not exist

Exit codes: 0 printed, 1 not found, 2 bad key or value, 3 over the size limit, 5 no usable /variables.
"""

SYNTAX = Syntax({"--default": True}, min_words=1, max_words=1)


def run(words: Words, io: ProcessIo) -> int:
    key = argument_text(words.words[0])
    default = words.flags.get("--default")
    if default is None:
        data = load_value(io.environ, key).data
    else:
        value = find_value(io.environ, key)
        data = argument_bytes(default) if value is None else value.data
    io.write_out(data)
    return 0
