"""Converts failures of tasks into the exceptions that a workflow sees, live or replayed."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

from windlass import errors
from windlass._replay import Failed
from windlass.errors import ExecutionError, RecordedError, RetryError


def wrap_failure(error: BaseException) -> ExecutionError:
    """Wraps an exception of a task in the ExecutionError that the workflow sees.

    The result is the same in the run in which the task failed and in every replay. Details that the
    log does not hold, such as a RetryError, are only in `__cause__`.
    """
    inner = error.inner_exception if isinstance(error, RetryError) else error
    seen = inner if isinstance(inner, ExecutionError) else ExecutionError(inner)
    if seen is not error:
        seen.__cause__ = error
    return seen


def restore_failure(failed: Failed, names: Mapping[str, Any]) -> ExecutionError:
    """Restores a recorded failure as an exception.

    `names` are the globals of the task's module; exception classes are looked up there, in the
    SDK's errors and in `builtins`. An unknown class becomes a RecordedError.
    """
    ours = getattr(errors, failed.type, None)
    if isinstance(ours, type) and issubclass(ours, ExecutionError):
        error: ExecutionError = _instance(ours, failed.message)
        return error
    known = names.get(failed.type) or getattr(builtins, failed.type, None)
    if isinstance(known, type) and issubclass(known, BaseException):
        return ExecutionError(_instance(known, failed.message), failed.message)
    return ExecutionError(RecordedError(failed.type, failed.message), failed.message)


def _instance(kind: Any, message: str) -> Any:
    # Bypasses `__init__`: a user's exception class may require any arguments.
    error = kind.__new__(kind, message)
    error.args = (message,)
    error.__windlass_message__ = message
    if isinstance(error, ExecutionError):
        error.inner_exception = None
        error.message = message
    return error
