"""Windlass SDK: durable workflows in Python.

A workflow is an async function; the calls of its tasks are recorded in a log. An execution that is
interrupted continues on any worker from that log. `windlass._replay` describes how.
"""

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
from windlass.task import Task, task
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
from windlass.workflow import Workflow, workflow

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

logger = logging.getLogger("windlass")

__version__: str


def __getattr__(name: str) -> str:
    """Reads `__version__` when it is asked for: the metadata of packages is slow to import."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version("windlass")
