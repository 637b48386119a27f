"""Domain types of the server as workflow sources and the worker use them."""

from windlass.domain.events import ExecutionEvent, ExecutionEventType
from windlass.domain.execution_context import ExecutionContext
from windlass.domain.resource_request import ResourceRequest
from windlass.domain.schedule import Schedule, ScheduleStatus, ScheduleType, cron, interval, once
from windlass.domain.state import ExecutionState

__all__ = [
    "ExecutionContext",
    "ExecutionEvent",
    "ExecutionEventType",
    "ExecutionState",
    "ResourceRequest",
    "Schedule",
    "ScheduleStatus",
    "ScheduleType",
    "cron",
    "interval",
    "once",
]
