"""``wfvar list``: keys, one a line or as JSON (WV-14)."""

from __future__ import annotations

from ..list_keys import list_keys
from ..process_io import ProcessIo
from ..words import Syntax, Words

SUMMARY = "list keys"

HELP = """Usage: wfvar list [PREFIX] [--all] [--json]

Lists this step's own keys, one a line, sorted. With PREFIX (`plan.`, in any case) every visible key that starts so: own ones as
`verdict`, others in full. Whatever is listed, `wfvar get` finds.

  --all    every visible key
  --json   an array of {"key": …, "size": bytes}
"""

SYNTAX = Syntax({"--all": False, "--json": False}, min_words=0, max_words=1)


def run(words: Words, io: ProcessIo) -> int:
    prefix = words.words[0] if words.words else ("" if "--all" in words.flags else None)
    listed = list_keys(io.environ, prefix)
    if "--json" in words.flags:
        # Keys hold nothing that JSON escapes, and to import `json` takes as long as to start Python.
        items = ",".join(f'{{"key":"{key}","size":{size}}}' for key, size in listed)
        io.write_out(f"[{items}]\n")
    else:
        io.write_out("".join(f"{key}\n" for key, _size in listed))
    return 0
