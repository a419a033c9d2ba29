"""``wfvar set``: stores exactly the bytes given (WV-14)."""

from __future__ import annotations

from ..file_extension import without_extension
from ..key import checked_key
from ..mangling_signs import mangling_signs
from ..own_segments import own_segments
from ..process_io import ProcessIo
from ..read_input_file import read_input_file
from ..save_value import Saved, save_value
from ..size_text import size_text
from ..step import OpenStep
from ..value import check_read_size, decode_value
from ..words import Syntax, Words, argument_bytes, argument_text, usage

SUMMARY = "store a value in this step's own folder"

HELP = """Usage: wfvar set [-q] KEY VALUE
       wfvar set [-q] KEY --file F
       wfvar set [-q] KEY --stdin

Stores exactly the bytes given, with no newline added or removed, in this step's own folder; replaces what the key holds. The
value must be UTF-8. For text of several lines or with quotes, backslashes or `!` in it, use --file or --stdin: shells change it.

  --file F   the bytes of a regular file
  --stdin    the bytes of stdin
  -q         do not say what was stored
  --         what follows is literal, even --stdin

Exit codes: 0 stored, 2 bad key, value or words, 3 over a size limit, 4 not this step's to write, 5 no usable /variables or disk full.
"""

SYNTAX = Syntax(
    {"--file": True, "--stdin": False, "-q": False}, min_words=1, max_words=2, literal_from=1
)


def run(words: Words, io: ProcessIo) -> int:
    key = argument_text(words.words[0])
    argument = words.words[1] if len(words.words) > 1 else None
    data = _read_value(key, argument, words.flags, io)
    saved = save_value(io.environ, key, data)
    if "-q" not in words.flags:
        io.write_error(f"{saved.full}: {size_text(len(data))}")
    signs = _extension_signs(saved) + ([] if argument is None else mangling_signs(argument))
    for sign in signs:
        io.write_error(f"wfvar: warning: {saved.full} {sign}")
    return 0


def _extension_signs(saved: Saved) -> list[str]:
    """``report.md`` is a valid key, and seldom the one that was meant.

    Completes "<full key> …", as ``mangling_signs``.
    """
    bare = without_extension(saved.own)
    if bare is None:
        return []
    return [
        f"is a file in a folder, since a dot makes a folder: if {'.'.join(bare)} was meant, drop the extension "
        f"(wfvar unset {saved.full})"
    ]


def _read_value(key: str, argument: str | None, flags: dict[str, str], io: ProcessIo) -> bytes:
    if "=" in key:
        raise usage("KEY=VALUE is one word; write KEY VALUE", "set")
    segments = checked_key(key)
    if (argument is not None) + ("--file" in flags) + ("--stdin" in flags) > 1:
        raise usage("give one of VALUE, --file and --stdin", "set")
    if argument is not None:
        return argument_bytes(argument)
    if "--file" not in flags and "--stdin" not in flags:
        raise usage(
            "no VALUE; add --stdin to store what stdin brings"
            if io.stdin_carries_data()
            else "no VALUE; give it, --file F or --stdin",
            "set",
        )
    # Before anything is read: a producer at the other end of stdin may take long.
    with OpenStep(io.environ) as step:
        limit = step.limits.max_value_bytes
        full = step.path.full_key(own_segments(segments, step))
    if "--file" in flags:
        data = read_input_file(flags["--file"], limit, full)
    else:
        data = io.read_stdin(limit + 1)
    check_read_size(data, limit, full)
    decode_value(data, full)
    return data
