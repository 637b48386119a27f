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
    wrapped = inner if isinstance(inner, ExecutionError) else ExecutionError(inner)
    if wrapped is not error:
        wrapped.__cause__ = error
    return wrapped


def restore_failure(failed: Failed, names: Mapping[str, Any]) -> ExecutionError:
    """Restores a recorded failure as an exception.

    `names` are the globals of the task's module; exception classes are looked up there, in the
    SDK's errors and in `builtins`. An unknown class becomes a RecordedError.
    """
    sdk_class = getattr(errors, failed.type, None)
    if isinstance(sdk_class, type) and issubclass(sdk_class, ExecutionError):
        error: ExecutionError = _instance(sdk_class, failed.message)
        return error
    user_class = names.get(failed.type) or getattr(builtins, failed.type, None)
    if isinstance(user_class, type) and issubclass(user_class, BaseException):
        return ExecutionError(_instance(user_class, failed.message), failed.message)
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
