"""``wfvar mcp`` (WV-14), which is Node's alone: it is made with the protocol's own package."""

from __future__ import annotations

from ..errors import refusal
from ..process_io import ProcessIo
from ..words import Syntax, Words

SUMMARY = "offer these commands to an agent as tools (MCP on stdio)"

HELP = """Usage: wfvar mcp

Serves the Model Context Protocol on stdin and stdout, for an agent that starts it as a tool server: get_variable, set_variable,
list_variables, unset_variable, check. What `wfvar brief` prints are its instructions. Needs nothing in its environment: the
step is found at /variables.

  claude mcp add wfvar -- wfvar mcp
  codex mcp add wfvar -- wfvar mcp
"""

SYNTAX = Syntax({}, min_words=0, max_words=0)


def run(_words: Words, _io: ProcessIo) -> int:
    raise refusal(
        "io_error",
        "the MCP server needs Node.js, and there is only Python: put node on PATH, or at runtime/node of the kit; "
        "every other command works without",
    )
