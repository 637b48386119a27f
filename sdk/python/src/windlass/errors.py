"""Exceptions of the SDK.

Exception
├── ExecutionError                  a task or workflow failed; `inner_exception` is the cause
│   ├── RetryError                  all attempts of a task failed
│   ├── NonRetryable                raised by a task: further attempts cannot succeed
│   ├── RetryAfter                  raised by a task: the next attempt must wait
│   ├── RequestRefusedError         the server refused a secret, config or permission
│   ├── ExecutionTimeoutError       an attempt exceeded the task's timeout
│   ├── TaskAuthorizationError      the caller may not run the task
│   ├── ApprovalRejected            the approval of the task was rejected
│   ├── CompensationError           compensations of a saga failed
│   ├── TransientDurabilityError    a transient run used a feature that needs the log
│   ├── UnawaitedCallError          the workflow returned before it awaited a call
│   ├── NondeterminismError         a run made other calls than the log contains
│   ├── UnserializableError         a value cannot be represented as JSON
│   │   └── ValueTooLargeError      a value is larger than the log accepts
│   ├── PayloadCodecError           a value cannot be encoded or decoded
│   ├── ValueMismatchError          a value does not fit the annotation under which it is decoded
│   ├── ImportTimeout               the source took too long to import
│   ├── TaskProcessCrashed          the process of a task ended before the task did
│   └── WorkerProcessCrashed        the process of the execution ended before it
├── RecordedError                   a recorded exception whose class is unknown in this process
├── WorkflowNotFoundError           no workflow has this name
│   └── TaskNotFoundError           no task has this name
├── WorkflowCatalogError            the catalog cannot store or return a workflow
├── WorkerNotFoundError             no worker has this name
├── ExecutionContextNotFoundError   a task was called outside a workflow
├── RunnerNotAvailableError         the worker does not have the requested runner
└── StaleClaimError                 the execution belongs to another worker
BaseException
├── PauseRequested                  a signal, not a failure: `except Exception` does not catch it
└── ExecutionStopped                a signal: the execution fails, whatever the workflow catches
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, TypeGuard


class ExecutionError(Exception):
    """A task or workflow failed.

    `inner_exception` is the exception that it raised, or None; `message` is the text.
    """

    def __init__(
        self, inner_exception: BaseException | None = None, message: str | None = None
    ) -> None:
        self.inner_exception = inner_exception
        self.message = message if message is not None else str(inner_exception or "")
        super().__init__(self.message)


class RetryError(ExecutionError):
    """All attempts of a task failed; `inner_exception` is the exception of the last one."""

    def __init__(
        self, inner_exception: BaseException, retry_attempts: int, retry_delay: float
    ) -> None:
        super().__init__(inner_exception)
        self.retry_attempts = retry_attempts
        self.retry_delay = retry_delay


class NonRetryable(ExecutionError):
    """Raised by a task whose further attempts cannot succeed. A fallback or rollback still runs."""

    def __init__(self, message: str = "", inner_exception: BaseException | None = None) -> None:
        super().__init__(inner_exception, message or None)


class RetryAfter(ExecutionError):
    """Raised by a task whose next attempt must wait at least `seconds`, instead of its delay."""

    def __init__(self, seconds: float | timedelta = 0, message: str | None = None) -> None:
        wait = seconds.total_seconds() if isinstance(seconds, timedelta) else float(seconds)
        if not 0 <= wait < math.inf:
            raise ValueError(f"seconds must be a number of at least 0, not {seconds!r}")
        super().__init__(None, message or f"retry after {wait:g} seconds")
        self.seconds = wait


class RequestRefusedError(ExecutionError):
    """The server refused a secret, config or permission. Neither retries nor a fallback follow."""


class ExecutionTimeoutError(ExecutionError):
    """An attempt took longer than the task's timeout; `timeout` is in seconds."""

    def __init__(self, timeout: float | None = None, message: str | None = None) -> None:
        super().__init__(None, message or f"the attempt took longer than {timeout} seconds")
        self.timeout = timeout


class TaskAuthorizationError(ExecutionError):
    """The account under which the execution runs may not run this task."""


class ApprovalRejected(ExecutionError):
    """The approval of a task was rejected. No retry, fallback or rollback follows."""

    def __init__(
        self,
        task_name: str | None = None,
        approver_subject: str | None = None,
        approver_provider: str | None = None,
        reason: str | None = None,
        message: str | None = None,
    ) -> None:
        by = f" by {approver_subject}" if approver_subject else ""
        because = f": {reason}" if reason else ""
        super().__init__(None, message or f"task '{task_name}' was rejected{by}{because}")
        self.task_name = task_name
        self.approver_subject = approver_subject
        self.approver_provider = approver_provider
        self.reason = reason


class CompensationError(ExecutionError):
    """Compensations of a saga failed; `__cause__` is the failure after which they ran."""

    def __init__(self, message: str = "compensations failed") -> None:
        super().__init__(None, message)


class TransientDurabilityError(ExecutionError):
    """A transient run keeps no log from which it could continue, so it cannot pause."""


class UnawaitedCallError(ExecutionError):
    """The workflow returned although it had not awaited a call that it had created."""

    def __init__(
        self, call_id: str | None = None, place: str | None = None, message: str | None = None
    ) -> None:
        super().__init__(
            None,
            message or f"the call {call_id} was created at {place} and never awaited; await it",
        )


class NondeterminismError(ExecutionError):
    """A run made a call that the log lacks while the log has calls that the run did not make."""

    def __init__(self, message: str = "") -> None:
        super().__init__(None, message)


class UnserializableError(ExecutionError):
    """A value cannot be represented as JSON, so the log cannot hold it."""


class ValueTooLargeError(UnserializableError):
    """A value is larger than the server's limit for one request."""

    def __init__(
        self, what: str = "the value", size: int = 0, limit: int = 0, message: str | None = None
    ) -> None:
        super().__init__(
            None,
            message
            or f"{what} has {size} bytes; the log holds at most {limit} for one value. "
            "Set the option output_storage, or return a reference to the data",
        )


class PayloadCodecError(ExecutionError):
    """A value cannot be encoded or decoded by the codec of this process, or it has none."""

    def __init__(self, message: str = "") -> None:
        super().__init__(None, message)


class ValueMismatchError(ExecutionError):
    """A value does not fit the annotation under which it is decoded."""


class ImportTimeout(ExecutionError):
    """The import of the source took longer than the worker waits."""


class WorkerProcessCrashed(ExecutionError):
    """The process that ran the execution ended before the execution did."""


class TaskProcessCrashed(ExecutionError):
    """The process of an attempt, of a task with the option `process`, ended before the attempt."""

    def __init__(self, message: str = "the process of the task ended") -> None:
        super().__init__(None, message)


class RecordedError(Exception):
    """A recorded failure whose exception class is unknown in this process."""

    def __init__(
        self, type_name: str, message: str, failure: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.type_name = type_name
        self.__windlass_failure__ = failure


class WorkflowNotFoundError(Exception):
    """No workflow has this name."""


class TaskNotFoundError(WorkflowNotFoundError):
    """No task has this name."""


class WorkflowCatalogError(Exception):
    """The catalog cannot store or return a workflow."""


class WorkerNotFoundError(Exception):
    """No worker has this name."""


class ExecutionContextNotFoundError(Exception):
    """A task was called outside an execution, so there is no log to record the call in."""


class RunnerNotAvailableError(Exception):
    """The worker does not have the runner that the workflow requires."""


class StaleClaimError(Exception):
    """The execution was assigned to another worker."""


class PauseRequested(BaseException):
    """Ends the run at a pause. A BaseException, because catching it would prevent the pause."""

    def __init__(self, name: str, output: Any = None, refused: str | None = None) -> None:
        super().__init__(name)
        self.name = name
        self.output = output
        self.refused = refused


class ExecutionStopped(BaseException):
    """Ends the run with a failure. A BaseException, because catching it would hide a mismatch."""

    def __init__(self, error: ExecutionError) -> None:
        super().__init__(str(error))
        self.error = error


def is_group(error: BaseException) -> TypeGuard[BaseExceptionGroup[BaseException]]:
    """Returns True for an exception of several."""
    return isinstance(error, BaseExceptionGroup)


def find_pause(error: BaseException) -> PauseRequested | None:
    """Returns the pause in an exception: itself, or one that a TaskGroup has wrapped."""
    if isinstance(error, PauseRequested):
        return error
    if is_group(error):
        return next((pause for inner in error.exceptions if (pause := find_pause(inner))), None)
    return None


def root_cause(error: BaseException) -> BaseException:
    """Returns the original exception inside nested ExecutionErrors."""
    while isinstance(error, ExecutionError) and error.inner_exception is not None:
        error = error.inner_exception
    return error


def recorded_failure(error: BaseException) -> Mapping[str, Any] | None:
    """Returns the record from which an exception was restored, or None for a new exception."""
    failure: Mapping[str, Any] | None = vars(error).get("__windlass_failure__")
    return failure


def describe_error(error: BaseException) -> dict[str, str]:
    """Returns `{"type", "message"}` of an exception's root cause."""
    inner = root_cause(error)
    if recorded := recorded_failure(inner):
        return {name: str(recorded.get(name) or "") for name in ("type", "message")}
    name = inner.type_name if isinstance(inner, RecordedError) else type(inner).__name__
    try:
        message = str(inner)
    except Exception:
        message = f"an exception of the type {name}, whose text cannot be read"
    return {"type": name, "message": message}
