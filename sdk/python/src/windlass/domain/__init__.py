"""Domain types of the server as workflow sources and the worker use them."""

from windlass.domain.events import ExecutionEvent, ExecutionEventType
from windlass.domain.execution_context import ExecutionContext
from windlass.domain.resource_request import ResourceRequest
from windlass.domain.schedule import (
    CronSchedule,
    IntervalSchedule,
    OnceSchedule,
    Schedule,
    ScheduleStatus,
    ScheduleType,
    cron,
    interval,
    once,
    schedule_factory,
)
from windlass.domain.state import ExecutionState

__all__ = [
    "CronSchedule",
    "ExecutionContext",
    "ExecutionEvent",
    "ExecutionEventType",
    "ExecutionState",
    "IntervalSchedule",
    "OnceSchedule",
    "ResourceRequest",
    "Schedule",
    "ScheduleStatus",
    "ScheduleType",
    "cron",
    "interval",
    "once",
    "schedule_factory",
]
