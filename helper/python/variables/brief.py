"""``wfvar brief`` (WV-14): what an agent must know of its step, in Markdown for its own context."""

from __future__ import annotations

from .declared_outputs import DeclaredOutput, declared_outputs
from .escape import escape_text
from .size_text import size_text
from .step import Step
from .visible import Visible, find_others, find_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .step_file import JsonObject

# Keys that the brief lists; it is read by agents whose attention is dear.
_MAX_LISTED_KEYS = 100

_RUN_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_MAX_RUN_LENGTH = 128
_MAX_COUNT = 2**53 - 1


def format_brief(step: Step) -> str:
    """Who it is, what it can read, what it must hand off, how to read and write, what not to do.

    Made from what is on disk, and holds keys and sizes, no values. Raises what listing the keys raises.
    """
    own, shadowing = find_own(step)
    readable = [_key_line(each, step) for each in sorted(find_others(step, shadowing) + own, key=_shown)]
    outputs = declared_outputs(step.untrusted_step_file)
    return "\n".join(
        [
            f"# Workflow step {_code(step.path.text)}",
            "",
            f"You are step {_code(step.path.text)}{_of_run(step.untrusted_step_file)}. Values are plain UTF-8 files. "
            f"What stands in your own folder {_code(step.self_path)} when you end goes to the control plane and to "
            "later steps, and nothing else does.",
            "",
            "## What you can read now",
            "",
            *(_some(readable) or ["Nothing yet."]),
            "",
            "## What you must hand off",
            "",
            *(
                [_output_line(output) for output in outputs]
                or ["No output is declared. Whatever you store is handed on."]
            ),
            "",
            *_how_to(step, outputs[0].key if outputs else "verdict"),
        ]
    )


def _how_to(step: Step, example: str) -> list[str]:
    limits = step.limits
    *folders, leaf = example.split(".")
    file = "/".join((*folders, leaf.upper()))
    return [
        "## How to read and write",
        "",
        "- Read: the tool `get_variable` if you have it, else `wfvar get KEY`. Keys ignore case.",
        "- Write, safest first: the tool `set_variable` if you have it; your file-writing tool, to "
        f"{_code(f'{step.self_path}/{file}')} for the key {_code(example)}; `wfvar set KEY --file F`.",
        "- `wfvar set KEY VALUE` is for a single word alone: shells change `!`, `$`, quotes and line ends.",
        "- A key is letters, digits, `-`, `_`; a dot makes a folder, so names have no extension. Bytes are kept "
        "exactly, a final newline included.",
        f"- A value has at most {limits.max_value_bytes} bytes, all together {limits.max_step_bytes} in "
        f"{limits.max_step_files} files.",
        "- Before you end, run the tool `check` or `wfvar check`: it says what would be rejected and what is missing.",
        "",
        "## What not to do",
        "",
        "- Write nothing outside your own folder, above all not `.done`: the entrypoint writes that when you have "
        "ended.",
        "- Leave no links, pipes or other special files: they are never read.",
        "- Call no control plane, and put no values into environment variables or prompts.",
        "",
    ]


def _shown(variable: Visible) -> str:
    return variable.relative or variable.full


def _key_line(variable: Visible, step: Step) -> str:
    limit = step.limits.max_value_bytes
    is_own = variable.full.startswith(f"{step.path.text}.")
    return (
        f"- {_code(_shown(variable))}: {size_text(variable.size)}"
        + (", your own" if is_own else "")
        + (f", over the limit of {limit}: no one can read it" if variable.size > limit else "")
    )


def _output_line(output: DeclaredOutput) -> str:
    need = "required" if output.required else "if you have it"
    return f"- {_code(output.key)}, {need}: {_kind_text(output)}"


def _kind_text(output: DeclaredOutput) -> str:
    if output.kind == "choice" and output.options is not None:
        return f"one of {', '.join(_code(option) for option in output.options)}"
    return {
        "text": "text",
        "choice": "one line of text",
        "json": "a JSON object or array",
        "number": "a number",
        "bool": "`true` or `false`",
    }[output.kind]


def _of_run(untrusted_step_file: JsonObject) -> str:
    """Run and attempt as ``.step`` has them; what is not one is left out."""
    run, attempt = untrusted_step_file.get("run"), untrusted_step_file.get("attempt")
    text = f" of run {_code(run)}" if isinstance(run, str) and _is_run_id(run) else ""
    if isinstance(attempt, float) and attempt.is_integer() and 1 <= attempt <= _MAX_COUNT:
        text += f", attempt {int(attempt)}"
    return text


def _is_run_id(text: str) -> bool:
    """Run ids are the caller's: letters, digits, ``.``, ``_``, ``-`` (WV-3)."""
    is_short = 0 < len(text) <= _MAX_RUN_LENGTH
    return is_short and text[0] in _RUN_LETTERS and text.strip(_RUN_LETTERS + "._-") == ""


def _code(text: str) -> str:
    """A code span that the text cannot end: its fence is longer than any in the text."""
    safe = escape_text(text)
    longest = 0
    while "`" * (longest + 1) in safe:
        longest += 1
    fence = "`" * (longest + 1)
    return f"{fence} {safe} {fence}" if longest else f"`{safe}`"


def _some(lines: list[str]) -> list[str]:
    more = len(lines) - _MAX_LISTED_KEYS
    return (
        lines
        if more <= 0
        else [*lines[:_MAX_LISTED_KEYS], f"- and {more} more: `wfvar list --all`"]
    )
