"""A check's report, for a person and as JSON."""

from __future__ import annotations

from ..declared_outputs import DeclaredOutput
from ..escape import escape_text
from ..size_text import size_text
from .check_step import CheckReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .issue import ListedIssue

# Of each sort, as many as a pack lists.
_MAX_LISTED = 100


def format_report(report: CheckReport) -> str:
    """A line for each thing, of each sort the first 100, and a line that sums up."""
    absent = [output for output, present in report.outputs if not present]
    lines = [
        *_some([f"accepted {key}: {size_text(size)}" for key, size in report.accepted]),
        *_some(
            [
                f"rejected {each['path']}: {each['code']}{_sizes(each)}: {each['advice']}"
                for each in report.rejected
            ]
        ),
        *_some(
            [f"skipped {each['path']}: {each['code']}: {each['advice']}" for each in report.skipped]
        ),
        *_some([_absent_line(output) for output in absent]),
    ]
    total = sum(size for _key, size in report.accepted)
    summary = [
        f"{len(report.accepted)} accepted ({size_text(total)})",
        f"{len(report.rejected)} rejected",
        f"{len(report.skipped)} skipped",
        f"{sum(output.required for output in absent)} required missing",
    ]
    return "\n".join([*lines, f"step {report.step}: {', '.join(summary)}", ""])


def report_json(report: CheckReport) -> str:
    """One object: step, ok, accepted, rejected, skipped, outputs."""
    import json

    document = {
        "step": report.step,
        "ok": report.ok,
        "accepted": [{"key": key, "size": size} for key, size in report.accepted],
        "rejected": report.rejected,
        "skipped": report.skipped,
        "outputs": [
            {
                "key": output.key,
                "kind": output.kind,
                **({} if output.options is None else {"options": output.options}),
                "required": output.required,
                "present": present,
            }
            for output, present in report.outputs
        ],
    }
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    # Half a surrogate pair, which UTF-8 cannot hold, stands as JSON's own escape.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def describe_output(output: DeclaredOutput) -> str:
    """``verdict (choice: approve, revise)``. Options come from the workflow's author; they are made safe
    to print.
    """
    choices = ""
    if output.options is not None:
        choices = ": " + ", ".join(escape_text(option) for option in output.options)
    return f"{output.key} ({output.kind}{choices})"


def _absent_line(output: DeclaredOutput) -> str:
    if output.required:
        return f"missing {describe_output(output)}: required, set it before the step ends"
    return f"absent {describe_output(output)}: declared and not required"


def _sizes(issue: ListedIssue) -> str:
    parts = []
    if "size" in issue:
        parts.append(size_text(int(issue["size"])))
    if "limit" in issue:
        parts.append(f"the limit is {issue['limit']}")
    return f" ({', '.join(parts)})" if parts else ""


def _some(lines: list[str]) -> list[str]:
    more = len(lines) - _MAX_LISTED
    if more <= 0:
        return lines
    return [*lines[:_MAX_LISTED], f"{lines[0].split(' ', 1)[0]} {more} more"]
