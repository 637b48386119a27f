"""Windlass SDK: durable workflows in Python.

A workflow is an async function; the calls of its tasks are recorded in a log. An execution that is
interrupted continues on any worker from that log. `windlass._replay` describes how.

Names other than `task` and `workflow` are imported when they are first used: asyncio and the code
that runs a workflow take most of the time, and the definition of a workflow does not need them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from windlass._lazy_names import lazy_names
from windlass.task import Task, task
from windlass.workflow import Workflow, workflow

if TYPE_CHECKING:
    import logging

    from windlass import values
    from windlass._current import Current, current
    from windlass._heartbeat import heartbeat
    from windlass._options import TaskMetadata
    from windlass._patches import patch_done, patched
    from windlass._policies import Cache, Retry
    from windlass.domain.events import ExecutionEvent, ExecutionEventType
    from windlass.domain.execution_context import ExecutionContext
    from windlass.domain.resource_request import ResourceRequest
    from windlass.domain.schedule import (
        Schedule,
        ScheduleStatus,
        ScheduleType,
        cron,
        interval,
        once,
    )
    from windlass.domain.state import ExecutionState
    from windlass.errors import (
        ApprovalRejected,
        CompensationError,
        ExecutionContextNotFoundError,
        ExecutionError,
        ExecutionTimeoutError,
        ImportTimeout,
        NondeterminismError,
        NonRetryable,
        PauseRequested,
        PayloadCodecError,
        RecordedError,
        RequestRefusedError,
        RetryAfter,
        RetryError,
        RunnerNotAvailableError,
        StaleClaimError,
        TaskAuthorizationError,
        TaskNotFoundError,
        TaskProcessCrashed,
        TransientDurabilityError,
        UnawaitedCallError,
        UnserializableError,
        ValueMismatchError,
        ValueTooLargeError,
        WorkerNotFoundError,
        WorkerProcessCrashed,
        WorkflowCatalogError,
        WorkflowNotFoundError,
    )
    from windlass.output_storage import (
        InlineOutputStorage,
        LocalFileStorage,
        OutputStorage,
        OutputStorageReference,
    )
    from windlass.tasks import (
        Graph,
        StartedWorkflow,
        as_completed,
        call,
        choice,
        first,
        now,
        parallel,
        pause,
        pipeline,
        progress,
        randint,
        randrange,
        saga,
        sleep,
        start,
        uuid4,
    )

    logger: logging.Logger

__all__ = [
    "ApprovalRejected",
    "Cache",
    "CompensationError",
    "Current",
    "ExecutionContext",
    "ExecutionContextNotFoundError",
    "ExecutionError",
    "ExecutionEvent",
    "ExecutionEventType",
    "ExecutionState",
    "ExecutionTimeoutError",
    "Graph",
    "ImportTimeout",
    "InlineOutputStorage",
    "LocalFileStorage",
    "NonRetryable",
    "NondeterminismError",
    "OutputStorage",
    "OutputStorageReference",
    "PauseRequested",
    "PayloadCodecError",
    "RecordedError",
    "RequestRefusedError",
    "ResourceRequest",
    "Retry",
    "RetryAfter",
    "RetryError",
    "RunnerNotAvailableError",
    "Schedule",
    "ScheduleStatus",
    "ScheduleType",
    "StaleClaimError",
    "StartedWorkflow",
    "Task",
    "TaskAuthorizationError",
    "TaskMetadata",
    "TaskNotFoundError",
    "TaskProcessCrashed",
    "TransientDurabilityError",
    "UnawaitedCallError",
    "UnserializableError",
    "ValueMismatchError",
    "ValueTooLargeError",
    "WorkerNotFoundError",
    "WorkerProcessCrashed",
    "Workflow",
    "WorkflowCatalogError",
    "WorkflowNotFoundError",
    "__version__",
    "as_completed",
    "call",
    "choice",
    "cron",
    "current",
    "first",
    "heartbeat",
    "interval",
    "logger",
    "now",
    "once",
    "parallel",
    "patch_done",
    "patched",
    "pause",
    "pipeline",
    "progress",
    "randint",
    "randrange",
    "saga",
    "sleep",
    "start",
    "task",
    "uuid4",
    "values",
    "workflow",
]

__version__: str

_MODULES = {
    "windlass._current": ("Current", "current"),
    "windlass._heartbeat": ("heartbeat",),
    "windlass._options": ("TaskMetadata",),
    "windlass._patches": ("patch_done", "patched"),
    "windlass._policies": ("Cache", "Retry"),
    "windlass.domain.events": ("ExecutionEvent", "ExecutionEventType"),
    "windlass.domain.execution_context": ("ExecutionContext",),
    "windlass.domain.resource_request": ("ResourceRequest",),
    "windlass.domain.schedule": (
        "Schedule",
        "ScheduleStatus",
        "ScheduleType",
        "cron",
        "interval",
        "once",
    ),
    "windlass.domain.state": ("ExecutionState",),
    "windlass.errors": (
        "ApprovalRejected",
        "CompensationError",
        "ExecutionContextNotFoundError",
        "ExecutionError",
        "ExecutionTimeoutError",
        "ImportTimeout",
        "NondeterminismError",
        "NonRetryable",
        "PauseRequested",
        "PayloadCodecError",
        "RecordedError",
        "RequestRefusedError",
        "RetryAfter",
        "RetryError",
        "RunnerNotAvailableError",
        "StaleClaimError",
        "TaskAuthorizationError",
        "TaskNotFoundError",
        "TaskProcessCrashed",
        "TransientDurabilityError",
        "UnawaitedCallError",
        "UnserializableError",
        "ValueMismatchError",
        "ValueTooLargeError",
        "WorkerNotFoundError",
        "WorkerProcessCrashed",
        "WorkflowCatalogError",
        "WorkflowNotFoundError",
    ),
    "windlass.output_storage": (
        "InlineOutputStorage",
        "LocalFileStorage",
        "OutputStorage",
        "OutputStorageReference",
    ),
    "windlass.tasks": (
        "Graph",
        "StartedWorkflow",
        "as_completed",
        "call",
        "choice",
        "first",
        "now",
        "parallel",
        "pause",
        "pipeline",
        "progress",
        "randint",
        "randrange",
        "saga",
        "sleep",
        "start",
        "uuid4",
    ),
}

# Modules that are attributes of the package without an import of their own.
_SUBMODULES = {"domain", "interceptors", "output_storage", "routing", "tasks", "values"}

if not TYPE_CHECKING:
    _find = lazy_names(__name__, _MODULES)

    def __getattr__(name: str) -> object:
        if name == "logger":
            import logging

            return logging.getLogger(__name__)
        if name in _SUBMODULES:
            return import_module(f"{__name__}.{name}")
        if name == "__version__":
            # The metadata of packages is slow to import.
            from importlib.metadata import version

            return version("windlass")
        return _find(name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
