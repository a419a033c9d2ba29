"""``.step`` (WV-1): what this step is. The agent may have written it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    JsonObject = Mapping[str, object]


def parse_json_object(untrusted: bytes) -> JsonObject:
    """The object that the bytes spell as UTF-8 JSON; an empty one where they do not.

    Its numbers are floats: ``1e3`` is a count, as it is in JavaScript.
    """
    try:
        text = untrusted.decode("utf-8-sig").strip(" \t\n\r")
        value, end = _scan(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) and end == len(text) else {}


def _scan(text: str) -> tuple[object, int]:
    """The value that the text begins with, and where it ends. Raises ValueError.

    To import ``json`` takes as long as to start Python, its scanner alone next to nothing. But the scanner is
    CPython's, and some versions of it cannot say what is wrong unless the package is there: then, and where
    it did say, the package decides.
    """
    try:
        from _json import make_scanner

        return make_scanner(_ScannerOptions)(text, 0)  # type: ignore[arg-type]
    except (ImportError, SystemError, StopIteration, ValueError):
        from json import JSONDecoder

        return JSONDecoder(
            parse_float=float, parse_int=float, parse_constant=_refuse_constant
        ).raw_decode(text)


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


class _ScannerOptions:
    """What the scanner reads of the decoder that it otherwise belongs to."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = float
    parse_constant = staticmethod(_refuse_constant)
