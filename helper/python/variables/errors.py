"""What the package refuses with (WV-13, WV-14).

``code`` is stable, and callers switch on it. The message is for a person: what, which, the limit, what to
do. It never holds a value, an unchecked key, or a path but those that WV-1's two variables and ``.self`` give.
"""

from __future__ import annotations

import errno


class VariablesError(Exception):
    """The base of every refusal; its subclasses are also what a Python programmer would catch."""

    code: str
    key: str | None
    """The key in question, checked and lowercased."""
    size: int | None
    """Bytes, files or entries, whichever the code counts."""
    limit: int | None

    def __init__(
        self,
        code: str,
        message: str,
        key: str | None = None,
        size: int | None = None,
        limit: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.key = key
        self.size = size
        self.limit = limit

    def __str__(self) -> str:
        # KeyError would give the message's repr.
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions are unpickled from their `args`, which hold the message alone: a process pool would hang.
        return type(self), (self.code, self.message, self.key, self.size, self.limit)


class NotFoundError(VariablesError, KeyError):
    """``not_found``: a valid key that no visible file has."""


class InvalidError(VariablesError, ValueError):
    """``invalid_key``, ``ambiguous_key``, ``invalid_value``, ``usage``."""


class LimitError(VariablesError, ValueError):
    """``value_too_large``, ``step_entries_exceeded``, ``step_files_exceeded``, ``step_bytes_exceeded``."""


class OutsideOwnStepError(VariablesError, PermissionError):
    """``outside_own_step``: only the own folder is written."""


class EnvironmentUnusableError(VariablesError, OSError):
    """``no_variables``, ``unsafe_path``, ``disk_full``, ``io_error``."""


_CLASSES: dict[str, type[VariablesError]] = {
    "not_found": NotFoundError,
    "invalid_key": InvalidError,
    "ambiguous_key": InvalidError,
    "invalid_value": InvalidError,
    "usage": InvalidError,
    "value_too_large": LimitError,
    "step_entries_exceeded": LimitError,
    "step_files_exceeded": LimitError,
    "step_bytes_exceeded": LimitError,
    "outside_own_step": OutsideOwnStepError,
    "no_variables": EnvironmentUnusableError,
    "unsafe_path": EnvironmentUnusableError,
    "disk_full": EnvironmentUnusableError,
    "io_error": EnvironmentUnusableError,
}


def refusal(
    code: str,
    message: str,
    key: str | None = None,
    size: int | None = None,
    limit: int | None = None,
) -> VariablesError:
    """The error of the class that fits the code."""
    return _CLASSES[code](code, message, key, size, limit)


def to_variables_error(error: Exception, key: str | None = None) -> VariablesError:
    """Any error as a VariablesError: the kernel's as ``disk_full`` or ``io_error``.

    They are named by errno, because their own text holds a path. ``key`` is what was to be read or written.
    """
    if isinstance(error, VariablesError):
        return error
    number = error.errno if isinstance(error, OSError) else None
    if number is None:
        return refusal("io_error", "an unexpected failure inside the helper", key=key)
    name = errno.errorcode.get(number, str(number))
    if number in (errno.ENOSPC, errno.EDQUOT):
        return refusal(
            "disk_full",
            f"no space left to write{'' if key is None else f' {key}'} ({name}): remove what the step does not need",
            key=key,
        )
    what = "a read or a write" if key is None else f"to read or write {key}"
    return refusal(
        "io_error",
        f"the system refused {what} ({name}): check owner, mode and mount",
        key=key,
    )
