"""The outputs that ``.step`` declares (WV-1, WV-10)."""

from __future__ import annotations

from .errors import VariablesError
from .key import checked_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .step_file import JsonObject

_KINDS = ("text", "choice", "json", "number", "bool")


class DeclaredOutput:
    __slots__ = ("key", "kind", "options", "required")

    def __init__(self, key: str, kind: str, options: list[str] | None, required: bool) -> None:
        self.key = key
        """Relative to the step: ``verdict``, ``findings.high``."""
        self.kind = kind
        self.options = options
        """Of a closed ``choice``."""
        self.required = required


def declared_outputs(untrusted_step_file: JsonObject) -> list[DeclaredOutput]:
    """What is no output is left out, and a kind that this version does not know counts as text.

    A newer control plane must not break this step.
    """
    given = untrusted_step_file.get("outputs")
    parsed = [_parse_output(one) for one in given] if isinstance(given, list) else []
    return [output for output in parsed if output is not None]


def _parse_output(untrusted: object) -> DeclaredOutput | None:
    if not isinstance(untrusted, dict) or not isinstance(untrusted.get("key"), str):
        return None
    try:
        key = ".".join(checked_key(untrusted["key"]))
    except VariablesError:
        return None
    kind, options = untrusted.get("kind"), untrusted.get("options")
    are_options = isinstance(options, list) and all(isinstance(each, str) for each in options)
    return DeclaredOutput(
        key,
        kind if isinstance(kind, str) and kind in _KINDS else "text",
        options if are_options else None,
        untrusted.get("required") is not False,
    )
