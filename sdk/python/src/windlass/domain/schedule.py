"""When a workflow is to be started by itself. The service keeps the clock; these are its orders."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any


class ScheduleType(StrEnum):
    """The kinds of schedule."""

    CRON = "cron"
    INTERVAL = "interval"
    ONCE = "once"


class ScheduleStatus(StrEnum):
    """Whether a schedule fires."""

    ACTIVE = "active"
    PAUSED = "paused"


class Overlap(StrEnum):
    """What a tick does while the execution of an earlier one runs."""

    ALLOW = "allow"
    SKIP = "skip"
    QUEUE = "queue"
    CANCEL_PREVIOUS = "cancel_previous"


@dataclass(frozen=True, slots=True)
class Schedule:
    """The part that all kinds share."""

    timezone: str = "UTC"
    overlap: Overlap | None = field(default=None, kw_only=True)

    @property
    def type(self) -> ScheduleType:
        """The kind of this schedule."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The `schedule_config` of the HTTP API."""
        config: dict[str, Any] = {"type": str(self.type), "timezone": self.timezone}
        return config if self.overlap is None else {**config, "overlap": str(self.overlap)}


@dataclass(frozen=True, slots=True)
class CronSchedule(Schedule):
    """At the times that a cron expression names, in the schedule's own time zone."""

    cron_expression: str = ""

    @property
    def type(self) -> ScheduleType:
        return ScheduleType.CRON

    def to_dict(self) -> dict[str, Any]:
        return {**Schedule.to_dict(self), "cron_expression": self.cron_expression}


@dataclass(frozen=True, slots=True)
class IntervalSchedule(Schedule):
    """Again and again, a fixed time apart."""

    interval_seconds: float = 0.0
    start_time: datetime | None = None
    end_time: datetime | None = None

    @property
    def type(self) -> ScheduleType:
        return ScheduleType.INTERVAL

    @property
    def interval(self) -> timedelta:
        """The time between two starts."""
        return timedelta(seconds=self.interval_seconds)

    def to_dict(self) -> dict[str, Any]:
        return {
            **Schedule.to_dict(self),
            "interval_seconds": self.interval_seconds,
            "start_time": self.start_time.isoformat() if self.start_time else None,
            "end_time": self.end_time.isoformat() if self.end_time else None,
        }


@dataclass(frozen=True, slots=True)
class OnceSchedule(Schedule):
    """At one moment."""

    run_time: datetime = datetime.max

    @property
    def type(self) -> ScheduleType:
        return ScheduleType.ONCE

    def to_dict(self) -> dict[str, Any]:
        return {**Schedule.to_dict(self), "run_time": self.run_time.isoformat()}


def cron(expression: str, timezone: str = "UTC", *, overlap: str | None = None) -> CronSchedule:
    """A schedule such as `cron("0 9 * * MON-FRI", timezone="Europe/Vienna", overlap="skip")`."""
    if len(expression.split()) < 5 and not expression.startswith("@"):
        raise ValueError(f"a cron expression has at least five fields: {expression!r}")
    return CronSchedule(timezone=timezone, cron_expression=expression, overlap=_overlap(overlap))


def interval(
    *,
    seconds: float = 0,
    minutes: float = 0,
    hours: float = 0,
    days: float = 0,
    weeks: float = 0,
    start_time: datetime | None = None,
    end_time: datetime | None = None,
    timezone: str = "UTC",
    overlap: str | None = None,
) -> IntervalSchedule:
    """A schedule such as `interval(minutes=15)`."""
    every = timedelta(seconds=seconds, minutes=minutes, hours=hours, days=days, weeks=weeks)
    if every <= timedelta(0):
        raise ValueError("an interval is longer than nothing")
    return IntervalSchedule(
        timezone=timezone,
        interval_seconds=every.total_seconds(),
        start_time=start_time,
        end_time=end_time,
        overlap=_overlap(overlap),
    )


def once(
    run_time: datetime | str, timezone: str = "UTC", *, overlap: str | None = None
) -> OnceSchedule:
    """A schedule that fires at `run_time`, a datetime or its ISO text."""
    moment = datetime.fromisoformat(run_time) if isinstance(run_time, str) else run_time
    return OnceSchedule(timezone=timezone, run_time=moment, overlap=_overlap(overlap))


def _overlap(given: str | None) -> Overlap | None:
    return None if given is None else Overlap(given)
