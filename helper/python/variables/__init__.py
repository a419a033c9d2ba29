"""Workflow variables for agents in Python (WV-13): read what earlier steps left, write this step's outputs.

    from variables import load, save, keys

    plan = load("plan.summary")
    save("verdict", "CLEAN")

Synchronous, standard library only, and nothing happens before the first call.
"""

from __future__ import annotations

import os

from .errors import (
    EnvironmentUnusableError,
    InvalidError,
    LimitError,
    NotFoundError,
    OutsideOwnStepError,
    VariablesError,
    refusal,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Default = TypeVar("Default")

__all__ = [
    "EnvironmentUnusableError",
    "InvalidError",
    "LimitError",
    "NotFoundError",
    "OutsideOwnStepError",
    "VariablesError",
    "keys",
    "load",
    "save",
]

_NO_DEFAULT: Default = object()  # type: ignore[valid-type]

# Each function imports what it needs when it is called: an agent that starts Python for one call pays for
# every module.


def load(key: str, default: Default = _NO_DEFAULT) -> str | Default:
    """The value of a variable, exactly as it was saved; the default, if given, where no such key exists.

    The key is in any case; own variables are looked for first, then those of other steps and
    ``workflow.…`` from the root. Raises VariablesError: ``not_found`` (also a KeyError); ``invalid_key``,
    ``ambiguous_key``, ``invalid_value``, ``value_too_large`` (also a ValueError); ``no_variables``,
    ``unsafe_path``, ``io_error`` (also an OSError).
    """
    from .load_value import find_value, load_value

    _must_be_text(key, "invalid_key", "the key")
    if default is _NO_DEFAULT:
        return load_value(os.environ, key).text
    value = find_value(os.environ, key)
    return default if value is None else value.text


def save(key: str, value: str) -> None:
    """Writes a variable into the step's own folder, atomically and byte for byte.

    Raises VariablesError: ``outside_own_step`` (also a PermissionError); ``invalid_key``,
    ``invalid_value``, ``value_too_large``, ``step_files_exceeded``, ``step_bytes_exceeded``,
    ``step_entries_exceeded`` (also a ValueError); ``no_variables``, ``unsafe_path``, ``disk_full``,
    ``io_error`` (also an OSError).
    """
    from .save_value import save_value
    from .value import encode_value

    _must_be_text(key, "invalid_key", "the key")
    _must_be_text(value, "invalid_value", "the value")
    save_value(os.environ, key, encode_value(value))


def keys(prefix: str | None = None) -> list[str]:
    """Keys, sorted; ``load`` loads whatever is listed.

    ``keys()`` gives the step's own, relative; ``keys(prefix="judge.")`` every visible one that starts so,
    in any case; ``keys("")`` all. Raises VariablesError: ``invalid_key`` for what is no text,
    ``step_entries_exceeded`` (also a ValueError);
    ``no_variables``, ``unsafe_path``, ``io_error`` (also an OSError).
    """
    from .list_keys import list_keys

    if prefix is not None:
        _must_be_text(prefix, "invalid_key", "the prefix")
    return [key for key, _size in list_keys(os.environ, prefix)]


def _must_be_text(given: object, code: str, what: str) -> None:
    """A number or an object must not be saved as its text."""
    if not isinstance(given, str):
        raise refusal(code, f"{what} must be a str, not {type(given).__name__}")
