"""Failures on their way from a task to the workflow: raised now, or read from the log."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

from windlass import errors
from windlass._replay import Failed
from windlass.errors import ExecutionError, RecordedError, RetryError


def wrap_failure(error: BaseException) -> ExecutionError:
    """What the workflow sees of a failure.

    It looks the same in the run that it happened in and in every replay; what only the first
    could know, such as a RetryError, is its `__cause__`.
    """
    inner = error.inner_exception if isinstance(error, RetryError) else error
    seen = inner if isinstance(inner, ExecutionError) else ExecutionError(inner)
    if seen is not error:
        seen.__cause__ = error
    return seen


def restore_failure(failed: Failed, names: Mapping[str, Any]) -> ExecutionError:
    """A recorded failure as an exception again. `names` are the globals of the task's module."""
    ours = getattr(errors, failed.type, None)
    if isinstance(ours, type) and issubclass(ours, ExecutionError):
        error: ExecutionError = _instance(ours, failed.message)
        return error
    known = names.get(failed.type) or getattr(builtins, failed.type, None)
    if isinstance(known, type) and issubclass(known, BaseException):
        return ExecutionError(_instance(known, failed.message), failed.message)
    return ExecutionError(RecordedError(failed.type, failed.message), failed.message)


def _instance(kind: Any, message: str) -> Any:
    # Not by calling it: an exception of the user's may take any arguments.
    error = kind.__new__(kind, message)
    error.args = (message,)
    error.__windlass_message__ = message
    if isinstance(error, ExecutionError):
        error.inner_exception = None
        error.message = message
    return error
