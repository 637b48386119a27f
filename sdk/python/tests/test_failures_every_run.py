"""Failures are equal, and of equal classes, in the first run and in every replay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Flag, IntEnum, StrEnum, auto
from typing import Any

import pydantic
import pytest

from every_run import run_and_replay
from windlass import ExecutionError, first, parallel, task


class Level(IntEnum):
    LOW = 1


class Name(StrEnum):
    ADA = "ada"


class Access(Flag):
    READ = auto()


class Declined(Exception):
    def __init__(self, code: Any, **details: Any) -> None:
        super().__init__(code)
        self.code = code
        self.steps: list[str] = []
        vars(self).update(details)


class Slotted(Exception):
    __slots__ = ("row",)

    def __init__(self, row: int) -> None:
        super().__init__(f"row {row}")
        self.row = row


@dataclass(frozen=True)
class Frozen(Exception):
    code: int
    wait: timedelta = timedelta(seconds=1)


def _noted(error: Exception, *notes: str) -> Exception:
    for note in notes:
        error.add_note(note)
    return error


def _caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "create",
    [
        lambda: ValueError({1: "a", "b": [True, None, 1.0, -0.0, 2**70]}),
        lambda: Declined({2: {3: "x"}}, steps=[1, (2,)], at=datetime(2026, 1, 1), n={"a": {1: 2}}),
        lambda: Declined("\ud83d" + "\ude00", text="\ud83d" + "\ude00", half="\ud800"),
        lambda: Declined(float("nan"), inf=float("inf"), ok=1),
        lambda: Declined(Level.LOW, name=Name.ADA, rights=Access.READ),
        lambda: Slotted(3),
        lambda: Frozen(4),
        lambda: OSError(2, "no such file", "/tmp/x"),
        lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
        lambda: KeyError(("a", 1)),
        lambda: _noted(ValueError("v"), "row 7", "of file"),
        lambda: _caused(ValueError("v"), _caused(Declined(1, x={2: 3}), KeyError("k"))),
        lambda: ExceptionGroup(
            "several", [Declined(5, a={1: 1}), ExceptionGroup("in", [Slotted(1)])]
        ),
        lambda: _caused(ExceptionGroup("g", [_noted(ValueError("a"), "n")]), Slotted(2)),
        lambda: pydantic.TypeAdapter(int).validate_python,
        lambda: SystemExit(3),
        lambda: BaseExceptionGroup("b", [KeyboardInterrupt("k")]),
        lambda: ExecutionError(ValueError("inner"), "outer"),
    ],
)
async def test_failure_is_the_same_exception_in_every_run(
    create: Callable[[], Any],
) -> None:
    def fails(position: int = 0) -> None:
        error = create()
        if callable(error):
            error("x")
        raise error

    async def body(seen: list[Any], _: Any) -> None:
        failing = task(fails)
        for calling in (
            failing,
            task.with_options(retry_max_attempts=1, retry_delay=0)(fails),
            task.with_options(fallback=fails)(fails),
            task.with_options(rollback=fails)(fails),
            lambda: parallel(failing(1)),
            lambda: first(failing(2)),
            lambda: failing.map([3]),
        ):
            try:
                await calling()
            except Exception as error:
                seen.append(error)
        seen += await parallel(failing(4), return_exceptions=True)

    seen, _ = await run_and_replay(body)
    assert len(seen) == 8


async def test_notes_of_a_failure_are_kept() -> None:
    @task
    async def fails() -> None:
        raise _noted(ValueError("v"), "while row 7 was read")

    async def body(seen: list[Any], _: Any) -> None:
        try:
            await fails()
        except ValueError as error:
            seen.append(error.__notes__)

    seen, log = await run_and_replay(body)
    assert seen == [["while row 7 was read"]]
    failed = next(event.value for event in log if event.type == "TASK_FAILED")
    assert failed["metadata"]["value"]["notes"] == ["while row 7 was read"]


async def test_change_of_a_caught_failure_does_not_change_its_record() -> None:
    @task
    async def fails() -> None:
        raise Declined(1, steps=["a"])

    async def body(seen: list[Any], _: Any) -> None:
        try:
            await fails()
        except Declined as error:
            error.steps.append("b")
            seen.append(error.steps)
            seen.append(vars(error)["__windlass_failure__"]["attributes"])

    seen, _ = await run_and_replay(body)
    assert seen == [["a", "b"], {"code": 1, "steps": ["a"]}]
