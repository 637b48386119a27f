"""Domain types of the server as workflow sources and the worker use them."""

from typing import TYPE_CHECKING

from windlass._lazy_names import lazy_names

if TYPE_CHECKING:
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

if not TYPE_CHECKING:
    __getattr__ = lazy_names(
        __name__,
        {
            "windlass.domain.events": ("ExecutionEvent", "ExecutionEventType"),
            "windlass.domain.execution_context": ("ExecutionContext",),
            "windlass.domain.resource_request": ("ResourceRequest",),
            "windlass.domain.schedule": (
                "CronSchedule",
                "IntervalSchedule",
                "OnceSchedule",
                "Schedule",
                "ScheduleStatus",
                "ScheduleType",
                "cron",
                "interval",
                "once",
                "schedule_factory",
            ),
            "windlass.domain.state": ("ExecutionState",),
        },
    )
