"""Replay: a log may end anywhere; the next run continues it without repeating recorded calls."""

from __future__ import annotations

from typing import Any

import pytest

from effects import effects
from run_fixture import failure_of, resuming, run_from, types, value
from windlass import ExecutionContext, ExecutionEvent, pause, sleep, task, uuid4, workflow
from windlass._replay import Replay, Resume
from windlass.errors import ExecutionError, ExecutionTimeoutError, RecordedError
from windlass.tasks import parallel


def test_resume_is_pending_until_its_pause_consumes_it() -> None:
    log = [
        _event("TASK_PAUSED", "pause_1", "p"),
        _event("WORKFLOW_PAUSED", "w", {"name": "p", "output": None}),
    ]
    assert Replay(log).resume is None
    log.append(_event("WORKFLOW_RESUMING", "w", "body"))
    assert Replay(log).resume == Resume("body", "pause_1")
    log += [_event("WORKFLOW_RESUMED", "w", "body"), _event("TASK_COMPLETED", "other", 1)]
    assert Replay(log).resume == Resume("body", "pause_1", is_recorded=True)
    assert Replay([*log, _event("TASK_COMPLETED", "pause_1", "body")]).resume is None
    assert Replay([*log, _event("WORKFLOW_PAUSED", "w", {"name": "q"})]).resume is None


def _event(type: str, source_id: str, value: Any) -> ExecutionEvent:
    return ExecutionEvent(type, source_id, "n", value, "2026-01-02T03:04:05Z", "0")


@task
async def step(name: str) -> str:
    effects.append(name)
    return name.upper()


@task
async def outer(name: str) -> list[str]:
    inner = [await step(f"{name}1"), str(await uuid4()), str(await uuid4())]
    await sleep(0)
    return inner


@task.with_options(retry_max_attempts=2, retry_delay=0)
async def flaky(name: str) -> str:
    effects.append(name)
    attempt = effects.count(name)
    if attempt < 3:
        raise ValueError(f"attempt {attempt}")
    return name


@task.with_options(fallback=step)
async def broken(name: str) -> str:
    raise ValueError(name)


@task
async def failing(name: str) -> str:
    effects.append(name)
    raise LookupError(name)


@workflow
async def everything(ctx: ExecutionContext[str]) -> list[Any]:
    result: list[Any] = [await step("a"), await step("a")]
    result += await parallel(outer("b"), outer("c"), step("d"), step("a"))
    result.append(await pause("first", output={"so far": len(result)}))
    result.append(await flaky("e"))
    result.append(await broken("f"))
    try:
        await failing("g")
    except ExecutionError as error:
        result.append([type(error.inner_exception).__name__, str(error)])
    result.append(await pause("second"))
    result.append(str(await uuid4()))
    return result


async def whole_log() -> list[ExecutionEvent]:
    """Returns the log of an uninterrupted execution."""
    log: list[ExecutionEvent] = []
    for body in (1, 2, None):
        log += (await run_from(everything, log, "in")).events
        if body:
            log.append(resuming({"body": body}))
    return log


async def test_execution_interrupted_after_any_event_has_the_same_outcome_and_repeats_no_call() -> (
    None
):
    effects.clear()
    log = await whole_log()
    assert types(log)[-1] == "WORKFLOW_COMPLETED"
    for cut in range(len(log)):
        events, bodies = list(log[:cut]), [{"body": 1}, {"body": 2}]
        effects[:] = ["e"] * types(events).count("TASK_RETRY_FAILED")
        finished = {e.source_id for e in events if e.type == "TASK_COMPLETED"}
        given = types(events).count("WORKFLOW_RESUMING")
        added: list[ExecutionEvent] = []
        while "WORKFLOW_COMPLETED" not in types(events):
            new = (await run_from(everything, events, "in")).events
            added += new
            events += new
            if new[-1].type == "WORKFLOW_PAUSED":
                events.append(resuming(bodies[given]))
                given += 1
        again = {e.source_id for e in added if e.type in {"TASK_STARTED", "TASK_COMPLETED"}}
        assert not again & finished, cut
        _assert_like(events, log, cut)


def _assert_like(events: list[ExecutionEvent], log: list[ExecutionEvent], cut: int) -> None:
    """Asserts equal calls and outcomes; random values that were not recorded may differ."""
    ended = {"TASK_COMPLETED", "TASK_FAILED"}
    calls = [event.source_id for event in events if event.type in ended]
    assert sorted(calls) == sorted(e.source_id for e in log if e.type in ended), cut
    output, expected = value(events[-1]), value(log[-1])
    assert [x for x in output if not isinstance(x, str | list)] == [{"body": 1}, {"body": 2}], cut
    assert output[:2] == expected[:2]
    assert output[-4:-1] == expected[-4:-1]
    assert types(events).count("WORKFLOW_STARTED") == 1
    assert types(events).count("WORKFLOW_RESUMED") == 2


async def test_equal_calls_have_different_ids() -> None:
    effects.clear()
    events = (await run_from(everything, (), "in")).events
    assert effects.count("a") == 3
    started = [e.source_id for e in events if e.type == "TASK_STARTED" and e.name == "step"]
    assert len(set(started)) == len(started)
    first = next(call for call in started if "#" not in call and "@" not in call)
    assert {first, f"{first}#2", f"{first}#3"} <= set(started)


async def test_equal_calls_inside_parallel_tasks_keep_their_ids() -> None:
    events = (await run_from(everything, (), "in")).events
    made = {e.source_id: value(e) for e in events if e.type == "TASK_COMPLETED"}
    cut = max(i for i, e in enumerate(events) if e.name == "uuid4")
    replayed = (await run_from(everything, events[: cut + 1], "in")).events
    for event in replayed:
        if event.type == "TASK_COMPLETED" and event.name == "outer":
            assert value(event) == made[event.source_id]


async def test_recorded_plain_values_are_replayed_like_references() -> None:
    effects.clear()
    log = [_plain(event) for event in await whole_log()]
    effects.clear()
    ended = (await run_from(everything, log[:-1], "in")).events
    assert types(ended) == ["WORKFLOW_COMPLETED"]
    assert effects == []


async def test_terminal_execution_is_not_run_again() -> None:
    log = await whole_log()
    assert (await run_from(everything, log, "in")).entries == []


class OwnError(Exception):
    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code}: {reason}")


@task
async def raises(kind: str) -> None:
    if kind == "own":
        raise OwnError(7, "no")
    if kind == "key":
        raise KeyError("k")
    raise ZeroDivisionError("z")


@task.with_options(timeout=0.01)
async def slow() -> None:
    import asyncio

    await asyncio.sleep(10)


@task.with_options(retry_max_attempts=1, retry_delay=0)
async def never() -> None:
    raise ZeroDivisionError("n")


@workflow
async def failures(ctx: ExecutionContext[Any]) -> list[Any]:
    seen: list[Any] = []
    for call in (raises("own"), raises("key"), raises("zero"), slow(), never()):
        try:
            await call
        except ExecutionError as error:
            inner = error.inner_exception
            seen.append([type(error).__name__, type(inner).__name__, error.message])
    return seen


async def test_replayed_failure_equals_the_original() -> None:
    events = (await run_from(failures)).events
    replayed = (await run_from(failures, events[:-1])).events
    assert types(replayed) == ["WORKFLOW_COMPLETED"]
    assert (
        events[-1].value
        == replayed[-1].value
        == [
            ["ExecutionError", "OwnError", "7: no"],
            ["ExecutionError", "KeyError", "'k'"],
            ["ExecutionError", "ZeroDivisionError", "z"],
            ["ExecutionTimeoutError", "NoneType", "the attempt took longer than 0.01 seconds"],
            ["ExecutionError", "ZeroDivisionError", "n"],
        ]
    )


async def test_recorded_failure_of_an_unknown_class_becomes_a_recorded_error() -> None:
    events = (await run_from(failures)).events
    failed = next(e for e in events if e.type == "TASK_FAILED")
    recorded_value = {"type": "GoneError", "message": "m"}
    log = [_with(e, recorded_value) if e is failed else e for e in events[:-1]]
    replayed = (await run_from(failures, log)).events
    assert replayed[-1].value[0] == ["ExecutionError", "RecordedError", "m"]


@workflow
async def rethrows(ctx: ExecutionContext[Any]) -> None:
    await raises("key")


async def test_replayed_failure_fails_the_workflow_with_the_same_message() -> None:
    events = (await run_from(rethrows)).events
    replayed = (await run_from(rethrows, events[:-1])).events
    assert events[-1].value == replayed[-1].value
    assert failure_of(events[-1].value) == {"type": "KeyError", "message": "'k'"}


def test_sdk_errors_keep_their_base_classes() -> None:
    assert issubclass(ExecutionTimeoutError, ExecutionError)
    assert RecordedError("X", "m").type_name == "X"


def _plain(event: ExecutionEvent) -> ExecutionEvent:
    return _with(event, value(event))


def _with(event: ExecutionEvent, recorded_value: Any) -> ExecutionEvent:
    return ExecutionEvent(
        event.type, event.source_id, event.name, recorded_value, event.time, event.id
    )


@pytest.fixture(autouse=True)
def _fresh() -> None:
    effects.clear()
