"""What to do about an issue. Never quotes a value."""

from __future__ import annotations

import os

from ..file_extension import without_extension
from ..folder import Entry
from ..key import MAX_SEGMENT_BYTES, MAX_SEGMENTS, fold_segment
from ..obstacle import MAX_SPELLINGS
from .issue import escape_path

ADVICE = {
    "value_too_large": "shorten it or split it over several keys",
    "invalid_output_value": "it is not UTF-8: encode it as UTF-8, binary data as base64",
    "changed_while_reading": "something is still writing it: check again when that is done",
    "unreadable": "this user may not open it: give files mode 0644 and folders 0755",
    "step_entries_exceeded": "no value is accepted while there are more entries: remove some",
    "step_files_exceeded": "no value is accepted while there are more files: remove some",
    "step_bytes_exceeded": "no value is accepted while they have more bytes in all: remove some",
    "skipped_symlink": "links are never followed: put a plain file there",
    "skipped_fifo": "only plain files are values: write one, or remove it",
    "skipped_socket": "only plain files are values: write one, or remove it",
    "skipped_device": "only plain files are values: write one, or remove it",
    "skipped_dotfile": "no name that starts with a dot is a variable: rename it if it is to be one",
    "skipped_mount": "no other mount is gone into: copy its files here",
    "stray_at_root": "nothing is collected beside the own folder: move it there",
}
"""By code."""

ADVICE_ON_SHADOW = (
    "a folder has the same name and no letter case tells them apart: rename one of them"
)
"""Of a leaf whose uppercase name is that of a folder with values in it (WV-2)."""


def advice_on_name(entry: Entry, depth: int) -> str:
    """Why an entry that a folder's rules call invalid is so. ``depth`` is that of its folder."""
    if fold_segment(entry.name) is None:
        return _advice_on_bad_name(entry.name)
    if depth + 1 > (MAX_SEGMENTS if entry.type == "file" else MAX_SEGMENTS - 1):
        return f"a key has at most {MAX_SEGMENTS} segments, the step's own among them: move it up"
    if entry.type == "file":
        return "several files differ only in case: keep one of them"
    return f"more than {MAX_SPELLINGS} folders differ only in case: merge them"


def _advice_on_bad_name(name: str) -> str:
    bare = without_extension(os.fsencode(name).decode("latin-1").lower().split("."))
    if bare and fold_segment(bare[0]) is not None:
        call_it = escape_path(bare[0].upper().encode("ascii"))
        return f"names hold no dot: drop the extension and call it {call_it}"
    return (
        f"names are letters, digits, - and _, at most {MAX_SEGMENT_BYTES}, and start with a letter or digit: "
        "rename it"
    )
