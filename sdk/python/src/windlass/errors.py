"""What the SDK raises.

Exception
├── ExecutionError                  a task or a workflow failed; `inner_exception` says of what
│   ├── RetryError                  ... and every attempt that it was allowed
│   ├── ExecutionTimeoutError       ... by taking longer than it may
│   ├── TaskAuthorizationError      ... because its caller may not run it
│   ├── ApprovalRejected            ... because somebody said no
│   ├── TransientDurabilityError    ... by asking of a transient run what only a durable one has
│   ├── UnserializableError         ... with a value that has no form in JSON
│   └── WorkerProcessCrashed        ... because its process ended
├── RecordedError                   stands for an exception whose class is not here any more
├── WorkflowNotFoundError
│   └── TaskNotFoundError
├── WorkflowCatalogError
├── WorkerNotFoundError
├── ExecutionContextNotFoundError   a task was called outside of a workflow
├── RunnerNotAvailableError
└── StaleClaimError                 the execution belongs to another worker by now
BaseException
└── PauseRequested                  a signal, not a failure: `except Exception` lets it pass
"""

from __future__ import annotations

from typing import Any


class ExecutionError(Exception):
    """A task or a workflow failed."""

    def __init__(
        self, inner_exception: BaseException | None = None, message: str | None = None
    ) -> None:
        self.inner_exception = inner_exception
        self.message = message if message is not None else str(inner_exception or "")
        super().__init__(self.message)


class RetryError(ExecutionError):
    """Every attempt failed; `inner_exception` is what the last one raised."""

    def __init__(
        self, inner_exception: BaseException, retry_attempts: int, retry_delay: float
    ) -> None:
        super().__init__(inner_exception)
        self.retry_attempts = retry_attempts
        self.retry_delay = retry_delay


class ExecutionTimeoutError(ExecutionError):
    """An attempt took longer than its `timeout` seconds."""

    def __init__(self, timeout: float | None = None, message: str | None = None) -> None:
        super().__init__(None, message or f"took longer than {timeout} seconds")
        self.timeout = timeout


class TaskAuthorizationError(ExecutionError):
    """The account that the execution runs as may not run this task."""


class ApprovalRejected(ExecutionError):
    """The approval that a task waited for was refused. No retry, fallback or rollback follows."""

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
    """A transient run keeps no log that it could be continued from, so it cannot pause."""


class UnserializableError(ExecutionError):
    """A value has no form in JSON, so the log cannot hold it."""


class WorkerProcessCrashed(ExecutionError):
    """The process that ran the execution ended before the execution did."""


class RecordedError(Exception):
    """A failure read from the log whose class is unknown here."""

    def __init__(self, type_name: str, message: str) -> None:
        super().__init__(message)
        self.type_name = type_name


class WorkflowNotFoundError(Exception):
    """There is no workflow of that name."""


class TaskNotFoundError(WorkflowNotFoundError):
    """There is no task of that name."""


class WorkflowCatalogError(Exception):
    """The catalog cannot take or give a workflow."""


class WorkerNotFoundError(Exception):
    """There is no worker of that name."""


class ExecutionContextNotFoundError(Exception):
    """A task was called where no execution runs, so there is no log to record it in."""


class RunnerNotAvailableError(Exception):
    """The worker has no runner of the kind that the workflow asks for."""


class StaleClaimError(Exception):
    """The execution was given to another worker."""


class PauseRequested(BaseException):
    """Ends the run at a pause. Catching it would break the pause, hence a BaseException."""

    def __init__(self, name: str, output: Any = None) -> None:
        super().__init__(name)
        self.name = name
        self.output = output


def root_cause(error: BaseException) -> BaseException:
    """What really went wrong, without the wrappers that it collected on its way up."""
    while isinstance(error, ExecutionError) and error.inner_exception is not None:
        error = error.inner_exception
    return error


def describe_error(error: BaseException) -> dict[str, str]:
    """An exception as the log holds it."""
    inner = root_cause(error)
    name = inner.type_name if isinstance(inner, RecordedError) else type(inner).__name__
    message = getattr(inner, "__windlass_message__", None)
    return {"type": name, "message": str(inner) if message is None else message}
