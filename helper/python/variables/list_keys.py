"""Listing variables (WV-13)."""

from __future__ import annotations

from .step import OpenStep
from .visible import Visible, find_others, find_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    ListedKey = tuple[str, int]


def list_keys(environ: Mapping[str, str], prefix: str | None = None) -> list[ListedKey]:
    """Keys and their sizes in bytes, sorted.

    Without a prefix the own keys, relative. With one, in any case, every visible variable once whose key
    starts with it: own ones relative where that form does, full where only that one does. Whatever is
    listed, ``load_value`` finds: ambiguous keys, links, odd files, dotfiles, names that are no keys and
    values over the limit are left out; what is no UTF-8 only a reader sees. Raises what ``OpenStep`` raises, and ``step_entries_exceeded``.
    """
    with OpenStep(environ) as step:
        own, shadowing = find_own(step)
        visible = own if prefix is None else own + find_others(step, shadowing)
        small = [each for each in visible if each.size <= step.limits.max_value_bytes]
        if prefix is None:
            return sorted((each.relative or each.full, each.size) for each in small)
        return sorted(_with_prefix(small, prefix))


def _with_prefix(visible: Sequence[Visible], prefix: str) -> list[ListedKey]:
    # Keys are ASCII, and some letters that are not lowercase into ones that are.
    start = prefix.lower() if prefix.isascii() else None
    listed: list[ListedKey] = []
    for each in visible:
        forms = (each.relative, each.full)
        key = next(
            (
                form
                for form in forms
                if start is not None and form is not None and form.startswith(start)
            ),
            None,
        )
        if key is not None:
            listed.append((key, each.size))
    return listed
