"""Exceptions of the SDK.

Exception
├── ExecutionError                  a task or workflow failed; `inner_exception` is the cause
│   ├── RetryError                  all attempts of a task failed
│   ├── ExecutionTimeoutError       an attempt exceeded the task's timeout
│   ├── TaskAuthorizationError      the caller may not run the task
│   ├── ApprovalRejected            the approval of the task was rejected
│   ├── TransientDurabilityError    a transient run used a feature that needs the log
│   ├── UnawaitedCallError          the workflow returned before it awaited a call
│   ├── UnserializableError         a value cannot be represented as JSON
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
└── PauseRequested                  a signal, not a failure: `except Exception` does not catch it
"""

from __future__ import annotations

from typing import Any


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


class UnserializableError(ExecutionError):
    """A value cannot be represented as JSON, so the log cannot hold it."""


class WorkerProcessCrashed(ExecutionError):
    """The process that ran the execution ended before the execution did."""


class RecordedError(Exception):
    """A recorded failure whose exception class is unknown in this process."""

    def __init__(self, type_name: str, message: str) -> None:
        super().__init__(message)
        self.type_name = type_name


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

    def __init__(self, name: str, output: Any = None) -> None:
        super().__init__(name)
        self.name = name
        self.output = output


def root_cause(error: BaseException) -> BaseException:
    """Returns the original exception inside nested ExecutionErrors."""
    while isinstance(error, ExecutionError) and error.inner_exception is not None:
        error = error.inner_exception
    return error


def describe_error(error: BaseException) -> dict[str, str]:
    """Returns an exception as the log holds it: `{"type", "message"}` of its root cause."""
    inner = root_cause(error)
    name = inner.type_name if isinstance(inner, RecordedError) else type(inner).__name__
    message = getattr(inner, "__windlass_message__", None)
    return {"type": name, "message": str(inner) if message is None else message}
