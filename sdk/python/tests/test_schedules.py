"""Schedules: constructors, checks and the form that the server stores."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from windlass import cron, interval, once
from windlass.domain.schedule import (
    CronSchedule,
    IntervalSchedule,
    OnceSchedule,
    Schedule,
    schedule_factory,
)
from windlass.routing import least, load, score

START = datetime(2027, 1, 2, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "config"),
    [
        (
            cron("0 9 * * MON-FRI", "Europe/Vienna", "skip"),
            {
                "type": "cron",
                "cron_expression": "0 9 * * MON-FRI",
                "timezone": "Europe/Vienna",
                "overlap": "skip",
            },
        ),
        (
            CronSchedule("@daily"),
            {"type": "cron", "cron_expression": "@daily", "timezone": "UTC"},
        ),
        (
            interval(3600),
            {
                "type": "interval",
                "interval_seconds": 3600.0,
                "timezone": "UTC",
                "start_time": None,
                "end_time": None,
            },
        ),
        (
            IntervalSchedule(1, 2, 3, 4, 5, "Asia/Tokyo", START, None, "queue"),  # type: ignore[call-overload]
            {
                "type": "interval",
                "interval_seconds": 1 + 2 * 60 + 3 * 3600 + 4 * 86_400 + 5 * 604_800.0,
                "timezone": "Asia/Tokyo",
                "start_time": "2027-01-02T03:00:00+00:00",
                "end_time": None,
                "overlap": "queue",
            },
        ),
        (
            IntervalSchedule(timedelta(hours=1), "Asia/Tokyo", START),
            {
                "type": "interval",
                "interval_seconds": 3600.0,
                "timezone": "Asia/Tokyo",
                "start_time": "2027-01-02T03:00:00+00:00",
                "end_time": None,
            },
        ),
        (
            once("2027-01-02T03:00:00+00:00"),
            {"type": "once", "run_time": "2027-01-02T03:00:00+00:00", "timezone": "UTC"},
        ),
        (
            OnceSchedule(START, "UTC"),
            {"type": "once", "run_time": "2027-01-02T03:00:00+00:00", "timezone": "UTC"},
        ),
    ],
)
def test_schedule_becomes_its_config_and_is_restored_from_it(
    schedule: Schedule, config: dict[str, Any]
) -> None:
    assert schedule.to_dict() == config
    assert schedule_factory(config) == schedule


def test_interval_has_its_length_as_a_timedelta() -> None:
    assert interval(minutes=90).interval == timedelta(hours=1.5)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({}, "type must be one of cron, interval, once, not None"),
        ({"type": "hourly"}, "not 'hourly'"),
        ({"type": "cron"}, "needs the member 'cron_expression'"),
        ({"type": "interval", "interval_seconds": 0}, "longer than 0 seconds"),
        ({"type": "interval", "interval_seconds": 1, "start_time": "soon"}, "soon"),
        ({"type": "cron", "cron_expression": "0 9"}, "at least five fields"),
        ({"type": "cron", "cron_expression": "@daily", "timezone": ""}, "timezone"),
        ({"type": "cron", "cron_expression": "@daily", "overlap": "never"}, "never"),
    ],
)
def test_wrong_config_is_refused_naming_the_member(config: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        schedule_factory(config)


def test_load_is_a_selector_with_and_without_parentheses() -> None:
    assert score(least(load())).to_dict() == score(least(load)).to_dict()


def test_interval_of_a_timedelta_equals_that_of_its_units() -> None:
    assert IntervalSchedule(timedelta(minutes=90)) == IntervalSchedule(0, 30, 1)
    assert IntervalSchedule(interval=timedelta(days=1)) == IntervalSchedule(days=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"interval": 3600}, "interval must be a timedelta, not 3600"),
        ({"interval": timedelta(hours=1), "minutes": 5}, "minutes"),
        ({"every": 5}, "every"),
    ],
)
def test_wrong_interval_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        IntervalSchedule(**arguments)
