"""Schedules of workflows. The server evaluates them and starts the executions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any


class ScheduleType(StrEnum):
    """Kinds of schedule."""

    CRON = "cron"
    INTERVAL = "interval"
    ONCE = "once"


class ScheduleStatus(StrEnum):
    """States of a schedule; only an active one fires."""

    ACTIVE = "active"
    PAUSED = "paused"


class Overlap(StrEnum):
    """Overlap policies: applied to a tick while an execution of an earlier tick runs."""

    ALLOW = "allow"
    SKIP = "skip"
    QUEUE = "queue"
    CANCEL_PREVIOUS = "cancel_previous"


@dataclass(frozen=True, slots=True)
class Schedule:
    """Common part of all schedules.

    Attributes:
        timezone: IANA name of the time zone, such as `"Europe/Vienna"`.
        overlap: overlap policy; None for the server's default.
    """

    timezone: str = "UTC"
    overlap: Overlap | None = field(default=None, kw_only=True)

    @property
    def type(self) -> ScheduleType:
        """Kind of this schedule."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Returns the `schedule_config` of the HTTP API."""
        config: dict[str, Any] = {"type": str(self.type), "timezone": self.timezone}
        return config if self.overlap is None else {**config, "overlap": str(self.overlap)}


@dataclass(frozen=True, slots=True)
class CronSchedule(Schedule):
    """Schedule that fires at the times of a cron expression in its time zone."""

    cron_expression: str = ""

    @property
    def type(self) -> ScheduleType:
        return ScheduleType.CRON

    def to_dict(self) -> dict[str, Any]:
        return {**Schedule.to_dict(self), "cron_expression": self.cron_expression}


@dataclass(frozen=True, slots=True)
class IntervalSchedule(Schedule):
    """Schedule that fires at a fixed interval, optionally between `start_time` and `end_time`."""

    interval_seconds: float = 0.0
    start_time: datetime | None = None
    end_time: datetime | None = None

    @property
    def type(self) -> ScheduleType:
        return ScheduleType.INTERVAL

    @property
    def interval(self) -> timedelta:
        """Time between two ticks."""
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
    """Schedule that fires once."""

    run_time: datetime = datetime.max

    @property
    def type(self) -> ScheduleType:
        return ScheduleType.ONCE

    def to_dict(self) -> dict[str, Any]:
        return {**Schedule.to_dict(self), "run_time": self.run_time.isoformat()}


def cron(expression: str, timezone: str = "UTC", *, overlap: str | None = None) -> CronSchedule:
    """Creates a schedule: `cron("0 9 * * MON-FRI", timezone="Europe/Vienna", overlap="skip")`.

    Raises ValueError for an expression with fewer than five fields or an unknown overlap policy.
    """
    if len(expression.split()) < 5 and not expression.startswith("@"):
        raise ValueError(f"a cron expression needs at least five fields: {expression!r}")
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
    """Creates a schedule such as `interval(minutes=15)`.

    The arguments `seconds` to `weeks` are added up. Ticks occur only between `start_time` and
    `end_time`, if given. Raises ValueError if the interval is not positive or the overlap policy is
    unknown.
    """
    every = timedelta(seconds=seconds, minutes=minutes, hours=hours, days=days, weeks=weeks)
    if every <= timedelta(0):
        raise ValueError("the interval must be longer than 0 seconds")
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
    """Creates a schedule that fires at `run_time`, a datetime or its ISO 8601 text.

    Raises ValueError for other texts and for an unknown overlap policy.
    """
    moment = datetime.fromisoformat(run_time) if isinstance(run_time, str) else run_time
    return OnceSchedule(timezone=timezone, run_time=moment, overlap=_overlap(overlap))


def _overlap(policy: str | None) -> Overlap | None:
    return None if policy is None else Overlap(policy)
