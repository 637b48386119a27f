"""Windlass SDK: durable workflows in Python.

A workflow is an async function; the calls of its tasks are recorded in a log. An execution that is
interrupted continues on any worker from that log. `windlass._replay` describes how.
"""

import logging

from windlass import values
from windlass._current import Current, current
from windlass._options import TaskMetadata
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
from windlass.errors import ExecutionError, NonRetryable, PauseRequested, RetryAfter
from windlass.output_storage import (
    InlineOutputStorage,
    LocalFileStorage,
    OutputStorage,
    OutputStorageReference,
)
from windlass.task import task
from windlass.tasks import (
    Graph,
    call,
    choice,
    now,
    parallel,
    pause,
    pipeline,
    progress,
    randint,
    randrange,
    sleep,
    uuid4,
)
from windlass.workflow import workflow

__all__ = [
    "Current",
    "ExecutionContext",
    "ExecutionError",
    "ExecutionEvent",
    "ExecutionEventType",
    "ExecutionState",
    "Graph",
    "InlineOutputStorage",
    "LocalFileStorage",
    "NonRetryable",
    "OutputStorage",
    "OutputStorageReference",
    "PauseRequested",
    "ResourceRequest",
    "RetryAfter",
    "Schedule",
    "ScheduleStatus",
    "ScheduleType",
    "TaskMetadata",
    "call",
    "choice",
    "cron",
    "current",
    "interval",
    "logger",
    "now",
    "once",
    "parallel",
    "pause",
    "pipeline",
    "progress",
    "randint",
    "randrange",
    "sleep",
    "task",
    "uuid4",
    "values",
    "workflow",
]

logger = logging.getLogger("windlass")
