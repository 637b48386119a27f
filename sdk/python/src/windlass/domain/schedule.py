"""Schedules of workflows. The server evaluates them and starts the executions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, overload


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


class Schedule(ABC):
    """Common part of all schedules.

    Attributes:
        timezone: IANA name of the time zone, such as `"Europe/Vienna"`.
        overlap: overlap policy; None for the server's default.
    """

    timezone: str
    overlap: Overlap | None

    @property
    @abstractmethod
    def type(self) -> ScheduleType:
        """Kind of this schedule."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the `schedule_config` of the HTTP API."""
        config: dict[str, Any] = {"type": str(self.type), "timezone": self.timezone}
        return config if self.overlap is None else {**config, "overlap": str(self.overlap)}

    def _check(self) -> None:
        # The server checks the name: a worker's machine may be without time zone data.
        if not isinstance(self.timezone, str) or not self.timezone:
            raise ValueError(f"timezone must be an IANA name, not {self.timezone!r}")
        if self.overlap is not None:
            object.__setattr__(self, "overlap", Overlap(self.overlap))


@dataclass(frozen=True)
class CronSchedule(Schedule):
    """Schedule that fires at the times of a cron expression in its time zone.

    Raises ValueError for an expression with fewer than five fields, an empty time zone or an
    unknown overlap policy.
    """

    cron_expression: str
    timezone: str = "UTC"
    overlap: Overlap | None = None

    def __post_init__(self) -> None:
        expression = self.cron_expression
        if len(expression.split()) < 5 and not expression.startswith("@"):
            raise ValueError(f"a cron expression needs at least five fields: {expression!r}")
        self._check()

    @property
    def type(self) -> ScheduleType:
        return ScheduleType.CRON

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "cron_expression": self.cron_expression}


@dataclass(frozen=True, init=False)
class IntervalSchedule(Schedule):
    """Schedule that fires at a fixed interval, optionally between `start_time` and `end_time`.

    The arguments `seconds` to `weeks` are added up: `IntervalSchedule(minutes=15)`. The interval
    may also be one timedelta: `IntervalSchedule(timedelta(minutes=15), "Europe/Vienna")`. Raises
    ValueError if it is not positive, or for an empty time zone or an unknown overlap policy.
    """

    timezone: str
    start_time: datetime | None
    end_time: datetime | None
    overlap: Overlap | None
    interval: timedelta

    @overload
    def __init__(
        self,
        seconds: float = 0,
        minutes: float = 0,
        hours: float = 0,
        days: float = 0,
        weeks: float = 0,
        timezone: str = "UTC",
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        overlap: Overlap | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        interval: timedelta,
        timezone: str = "UTC",
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        overlap: Overlap | None = None,
    ) -> None: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        is_timedelta = "interval" in kwargs or (args and isinstance(args[0], timedelta))
        bind: Callable[..., tuple[Any, ...]] = _of_timedelta if is_timedelta else _of_units
        every, *others = bind(*args, **kwargs)
        if every <= timedelta(0):
            raise ValueError("the interval must be longer than 0 seconds")
        names = ("interval", "timezone", "start_time", "end_time", "overlap")
        for name, value in zip(names, (every, *others), strict=True):
            object.__setattr__(self, name, value)
        self._check()

    @property
    def type(self) -> ScheduleType:
        return ScheduleType.INTERVAL

    @property
    def interval_seconds(self) -> float:
        """Time between two ticks in seconds."""
        return self.interval.total_seconds()

    def to_dict(self) -> dict[str, Any]:
        return {
            **super().to_dict(),
            "interval_seconds": self.interval_seconds,
            "start_time": self.start_time.isoformat() if self.start_time else None,
            "end_time": self.end_time.isoformat() if self.end_time else None,
        }


@dataclass(frozen=True)
class OnceSchedule(Schedule):
    """Schedule that fires once.

    Raises ValueError for an empty time zone or an unknown overlap policy.
    """

    run_time: datetime
    timezone: str = "UTC"
    overlap: Overlap | None = None

    def __post_init__(self) -> None:
        self._check()

    @property
    def type(self) -> ScheduleType:
        return ScheduleType.ONCE

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "run_time": self.run_time.isoformat()}


def _of_timedelta(
    interval: timedelta,
    timezone: str = "UTC",
    start_time: datetime | None = None,
    end_time: datetime | None = None,
    overlap: Overlap | None = None,
) -> tuple[Any, ...]:
    if not isinstance(interval, timedelta):
        raise TypeError(f"interval must be a timedelta, not {interval!r}")
    return interval, timezone, start_time, end_time, overlap


def _of_units(
    seconds: float = 0,
    minutes: float = 0,
    hours: float = 0,
    days: float = 0,
    weeks: float = 0,
    timezone: str = "UTC",
    start_time: datetime | None = None,
    end_time: datetime | None = None,
    overlap: Overlap | None = None,
) -> tuple[Any, ...]:
    every = timedelta(seconds=seconds, minutes=minutes, hours=hours, days=days, weeks=weeks)
    return every, timezone, start_time, end_time, overlap


def cron(expression: str, timezone: str = "UTC", overlap: str | None = None) -> CronSchedule:
    """Creates a schedule: `cron("0 9 * * MON-FRI", timezone="Europe/Vienna", overlap="skip")`.

    Raises the errors of `CronSchedule`.
    """
    return CronSchedule(expression, timezone, _overlap(overlap))


def interval(
    seconds: float = 0,
    minutes: float = 0,
    hours: float = 0,
    days: float = 0,
    weeks: float = 0,
    timezone: str = "UTC",
    start_time: datetime | None = None,
    end_time: datetime | None = None,
    overlap: str | None = None,
) -> IntervalSchedule:
    """Creates a schedule such as `interval(minutes=15)`. Raises the errors of `IntervalSchedule`.

    The arguments `seconds` to `weeks` are added up. Ticks occur only between `start_time` and
    `end_time`, if given.
    """
    every = (seconds, minutes, hours, days, weeks)
    return IntervalSchedule(*every, timezone, start_time, end_time, _overlap(overlap))


def once(
    run_time: datetime | str, timezone: str = "UTC", overlap: str | None = None
) -> OnceSchedule:
    """Creates a schedule that fires at `run_time`, a datetime or its ISO 8601 text.

    Raises ValueError for other texts, and the errors of `OnceSchedule`.
    """
    moment = datetime.fromisoformat(run_time) if isinstance(run_time, str) else run_time
    return OnceSchedule(moment, timezone, _overlap(overlap))


def schedule_factory(data: Mapping[str, Any]) -> Schedule:
    """Creates the schedule that a `schedule_config` of the HTTP API describes.

    Raises ValueError for an unknown type and for a missing or wrong member.
    """
    kind, zone, overlap = data.get("type"), data.get("timezone", "UTC"), data.get("overlap")
    try:
        if kind == ScheduleType.CRON:
            return cron(data["cron_expression"], zone, overlap)
        if kind == ScheduleType.INTERVAL:
            start, end = (_moment(data.get(name)) for name in ("start_time", "end_time"))
            every = data["interval_seconds"]
            return interval(every, 0, 0, 0, 0, zone, start, end, overlap)
        if kind == ScheduleType.ONCE:
            return once(data["run_time"], zone, overlap)
    except KeyError as error:
        raise ValueError(f"a schedule of the type {kind} needs the member {error}") from error
    raise ValueError(f"type must be one of {', '.join(ScheduleType)}, not {kind!r}")


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _overlap(policy: str | None) -> Overlap | None:
    return None if policy is None else Overlap(policy)
