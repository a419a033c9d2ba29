"""``wfvar check``: what would be collected, rejected and missed if the step ended now (WV-14)."""

from __future__ import annotations

from ..check.check_step import check_step
from ..check.format_report import format_report, report_json
from ..process_io import ProcessIo
from ..step import OpenStep
from ..words import Syntax, Words

SUMMARY = "show what would be delivered, rejected and missed now"

HELP = """Usage: wfvar check [--json]

Goes through this step's own folder by the rules it will be collected by, and changes nothing. Says which values are accepted,
which files are rejected or passed over and what to do about each, and which declared outputs are missing.

  --json   one object: step, ok, accepted, rejected, skipped, outputs

Exit codes: 0 all is well, 1 something is rejected or a required output is missing, 2 bad words, 5 no usable /variables.
"""

SYNTAX = Syntax({"--json": False}, min_words=0, max_words=0)


def run(words: Words, io: ProcessIo) -> int:
    with OpenStep(io.environ) as step:
        report = check_step(step)
    text = report_json(report) + "\n" if "--json" in words.flags else format_report(report)
    io.write_out(text)
    return 0 if report.ok else 1
