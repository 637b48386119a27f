"""Retry, timeouts, heartbeats and Cache: what they do, and that crashes do not change it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import windlass
from effects import effects
from windlass import (
    Cache,
    ExecutionContext,
    ExecutionTimeoutError,
    NonRetryable,
    Retry,
    RetryAfter,
    RetryError,
    current,
    heartbeat,
    pause,
    sleep,
    task,
    workflow,
)
from windlass.domain.events import ExecutionEventType as E
from windlass.testing import Engine, assert_survives_crashes


def failing(times: int, error: Callable[[], Exception], retry: Retry) -> Any:
    """Returns a workflow whose task fails a number of times."""

    @task.with_options(retry=retry)
    async def flaky() -> int:
        if current().attempt <= times:
            raise error()
        return current().attempt

    @workflow
    async def runs(ctx: ExecutionContext[None]) -> int:
        return await flaky()

    return runs


def seconds(engine: Engine) -> float:
    return (engine.now - datetime(2026, 1, 1, tzinfo=UTC)).total_seconds()


async def finish(engine: Engine, flow: Any, limit: timedelta = timedelta(days=1)) -> Any:
    run = await engine.start(flow)
    await engine.advance_until_settled(run, limit)
    return run


async def test_retry_counts_all_attempts_and_caps_the_delay(engine: Engine) -> None:
    retry = Retry(attempts=5, delay=timedelta(seconds=10), backoff=10, max_delay=60)
    run = await finish(engine, failing(4, ConnectionError, retry))
    assert run.result() == 5
    assert seconds(engine) == 10 + 60 + 60 + 60


async def test_retry_is_exhausted_fails_with_the_last_error(engine: Engine) -> None:
    run = await finish(engine, failing(9, ConnectionError, Retry(attempts=2)))
    with pytest.raises(ConnectionError):
        run.result()
    assert sum(event.type == E.TASK_RETRY_FAILED for event in run.events) == 2


@pytest.mark.parametrize(
    ("retry", "error"),
    [
        (Retry(on=ConnectionError), ValueError),
        (Retry(never_on=(LookupError, ValueError)), KeyError),
        (Retry(), NonRetryable),
    ],
)
async def test_error_that_retry_excludes_fails_after_one_attempt(
    engine: Engine, retry: Retry, error: type[Exception]
) -> None:
    run = await finish(engine, failing(1, error, retry))
    assert run.output["type"] == error.__name__
    assert [e.type for e in run.events if "RETRY" in e.type] == []


async def test_attempts_that_would_start_too_late_are_not_made(engine: Engine) -> None:
    retry = Retry(attempts=100, delay=60, backoff=1, within=timedelta(minutes=5))
    run = await finish(engine, failing(100, ConnectionError, retry))
    assert run.state == "FAILED"
    assert sum(event.type == E.TASK_RETRY_FAILED for event in run.events) == 6
    assert seconds(engine) == 300


async def test_jitter_varies_delays_between_executions_and_not_between_runs() -> None:
    retry = Retry(delay=100, jitter=0.5)
    delays = [retry.delay_before(1, f"execution {n}") for n in range(200)]
    assert len(set(delays)) == 200
    assert 50 <= min(delays) < 60
    assert 140 < max(delays) <= 150
    assert delays[0] == retry.delay_before(1, "execution 0")


@pytest.mark.parametrize(
    "retry",
    [
        Retry(attempts=4, delay=7, jitter=0.3),
        Retry(attempts=10, delay=60, backoff=1, within=130),
        Retry(attempts=2, delay=3600),
        Retry(attempts=9, never_on=KeyError),
    ],
)
async def test_crash_between_attempts_changes_neither_outcome_nor_error(retry: Retry) -> None:
    errors = [ConnectionError("first"), KeyError("second"), ValueError("third")]

    @task.with_options(retry=retry)
    async def flaky() -> int:
        if current().attempt <= len(errors):
            raise errors[current().attempt - 1]
        return current().attempt

    @workflow
    async def runs(ctx: ExecutionContext[None]) -> str:
        try:
            return f"attempt {await flaky()}"
        except RetryError as error:
            return f"retries: {error}"
        except Exception as error:
            return f"{type(error).__mro__[1:3]}: {error}"

    report = await assert_survives_crashes(runs)
    assert report.cuts >= report.events - 1


async def test_crash_during_the_delay_leaves_the_rest_of_it(engine: Engine) -> None:
    flow = failing(1, ConnectionError, Retry(delay=3600, max_delay=3600))
    run = await engine.start(flow)
    started = datetime.fromisoformat(run.events[0].time)
    with Engine(start=started + timedelta(seconds=3000)) as other:
        continued = await other.continue_from(flow, None, run.events)
        await other.advance(599)
        assert continued.state == "RUNNING"
        await other.advance(1)
        assert continued.result() == 2


async def test_retry_after_is_respected_after_a_crash(engine: Engine) -> None:
    flow = failing(1, lambda: RetryAfter(500), Retry(delay=1))
    run = await engine.start(flow)
    started = datetime.fromisoformat(run.events[0].time)
    with Engine(start=started) as other:
        continued = await other.continue_from(flow, None, run.events)
        await other.advance(499)
        assert continued.state == "RUNNING"
        await other.advance(1)
        assert continued.result() == 2


async def test_total_timeout_bounds_attempts_and_delays(engine: Engine) -> None:
    @task.with_options(total_timeout=timedelta(seconds=25), retry=Retry(attempts=99, delay=10))
    async def fails() -> None:
        assert current().deadline == datetime(2026, 1, 1, 0, 0, 25, tzinfo=UTC)
        raise ConnectionError

    @workflow
    async def runs(ctx: ExecutionContext[None]) -> str:
        with pytest.raises(ExecutionTimeoutError, match=r"25\.0 seconds in total"):
            await fails()
        return "timed out"

    run = await finish(engine, runs)
    assert run.result() == "timed out"
    assert seconds(engine) == 25
    await assert_survives_crashes(runs)


async def test_total_timeout_is_followed_by_the_fallback(engine: Engine) -> None:
    @task.with_options(total_timeout=5, fallback=lambda: "fallback")
    async def waits() -> str:
        await sleep(3600)
        return "late"

    @workflow
    async def runs(ctx: ExecutionContext[None]) -> str:
        return await waits()

    run = await finish(engine, runs)
    assert run.result() == "fallback"
    assert seconds(engine) == 5


async def test_total_timeout_ends_during_a_crash_no_attempt_follows(engine: Engine) -> None:
    @task.with_options(total_timeout=30)
    async def charges() -> None:
        effects.append("charged")
        await sleep(3600)

    @workflow
    async def runs(ctx: ExecutionContext[None]) -> None:
        await charges()

    run = await engine.start(runs)
    begun = [event for event in run.events if event.name != "sleep"]
    with Engine(start=engine.now + timedelta(minutes=1)) as later:
        continued = await later.continue_from(runs, None, begun)
    with pytest.raises(ExecutionTimeoutError, match=r"30\.0 seconds in total"):
        continued.result()
    assert effects == ["charged"]


async def test_workflow_timeout_counts_over_pauses_and_crashes(engine: Engine) -> None:
    deadlines = []

    @workflow.with_options(timeout=timedelta(hours=1))
    async def runs(ctx: ExecutionContext[None]) -> None:
        deadlines.append(current().deadline)
        await pause("review")
        await sleep(3600)

    run = await engine.start(runs)
    await engine.advance(1800)
    await run.resume()
    await engine.advance_until_settled(run, timedelta(days=1))
    with pytest.raises(ExecutionTimeoutError, match=r"3600\.0 seconds"):
        run.result()
    assert seconds(engine) == 3600
    assert set(deadlines) == {datetime(2026, 1, 1, 1, tzinfo=UTC)}
    await assert_survives_crashes(runs, resumes=[None])


async def test_workflow_timeout_has_ended_while_paused_fails_on_resume(engine: Engine) -> None:
    @workflow.with_options(timeout=60)
    async def runs(ctx: ExecutionContext[None]) -> None:
        await pause("review")
        await sleep(1)

    run = await engine.start(runs)
    await engine.advance(61)
    await run.resume()
    assert run.state == "FAILED"


async def test_heartbeats_stop_fails_the_attempt_and_the_next_knows_how_far_it_was(
    engine: Engine,
) -> None:
    seen: list[Any] = []

    @task.with_options(heartbeat_timeout=30, retry=Retry(attempts=2, delay=0))
    async def loads(rows: int) -> int:
        seen.append(current().heartbeat_details)
        for n in range(current().heartbeat_details or 0, rows):
            if n == 3 and current().attempt == 1:
                await asyncio.sleep(3600)
            await asyncio.sleep(20)
            heartbeat(n + 1)
        return rows

    @workflow
    async def runs(ctx: ExecutionContext[None]) -> int:
        return await loads(5)

    run = await finish(engine, runs)
    assert run.result() == 5
    assert seen == [None, 3]
    assert seconds(engine) == 3 * 20 + 30 + 2 * 20
    await assert_survives_crashes(runs)


async def test_heartbeat_details_of_a_worker_that_died_reach_the_next_one(engine: Engine) -> None:
    @task
    async def loads() -> Any:
        found = current().heartbeat_details
        heartbeat({"row": 7})
        await sleep(3600)
        return [found]

    @workflow
    async def runs(ctx: ExecutionContext[None]) -> Any:
        return await loads()

    run = await engine.start(runs)
    with Engine() as other:
        continued = await finish_from(other, runs, run.events)
        assert continued.result() == [{"row": 7}]


async def finish_from(engine: Engine, flow: Any, events: Any) -> Any:
    run = await engine.continue_from(flow, None, events)
    await engine.advance_until_settled(run, timedelta(days=1))
    return run


async def test_heartbeats_of_a_thread_keep_its_attempt_alive(engine: Engine) -> None:
    @task.with_options(heartbeat_timeout=30)
    def works() -> str:
        for n in range(100):
            heartbeat(n)
        return threading.current_thread().name

    @workflow
    async def runs(ctx: ExecutionContext[None]) -> str:
        return await works()

    run = await finish(engine, runs)
    assert run.state == "COMPLETED"
    assert run.progress[-1] == 99
    recorded = [e.value for e in run.events if e.type == E.TASK_STARTED]
    assert recorded == [{}, {"~heartbeat": 0}, {"~heartbeat": 99}]


def caching(policy: Cache | bool, calls: list[int]) -> Any:
    @task.with_options(cache=policy)
    async def costly(n: int, label: str = "") -> int:
        calls.append(n)
        return n

    @workflow
    async def runs(ctx: ExecutionContext[list[Any]]) -> int:
        return await costly(*ctx.input)

    return runs


async def test_cached_result_is_used_until_its_ttl_has_passed(engine: Engine) -> None:
    calls: list[int] = []
    flow = caching(Cache(ttl=timedelta(minutes=10)), calls)
    for minutes in (0, 9, 2):
        await engine.advance(timedelta(minutes=minutes))
        assert (await engine.start(flow, [1])).result() == 1
    assert calls == [1, 1]


async def test_cache_key_selects_the_arguments_that_count(engine: Engine) -> None:
    calls: list[int] = []
    flow = caching(Cache(key=lambda n, label="": n), calls)
    for arguments in ([1, "a"], [1, "b"], [2, "a"]):
        assert (await engine.start(flow, arguments)).result() == arguments[0]
    assert calls == [1, 2]


async def test_code_changes_but_not_the_version_of_the_cache_reuses_the_result(
    engine: Engine,
) -> None:
    def flow(version: str, calls: list[int], result: int) -> Any:
        async def costly() -> int:
            calls.append(result)
            return result * 1

        if result == 2:

            async def costly() -> int:
                calls.append(result)
                return result * 2

        cached = task.with_options(cache=Cache(version=version), name="costly")(costly)

        async def runs(ctx: ExecutionContext[None]) -> int:
            return await cached()

        return workflow(runs)

    calls: list[int] = []
    assert (await engine.start(flow("1", calls, 1))).result() == 1
    assert (await engine.start(flow("1", calls, 2))).result() == 1
    assert (await engine.start(flow("2", calls, 2))).result() == 4
    assert calls == [1, 2]


@pytest.mark.parametrize(
    ("create", "error", "message"),
    [
        (lambda: Retry(attempts=0), ValueError, "attempts must be at least 1"),
        (lambda: Retry(attempts=True), TypeError, "attempts must be an integer"),
        (lambda: Retry(delay=-1), ValueError, "delay must be a number of at least 0"),
        (lambda: Retry(jitter=2), ValueError, "jitter must be a number from 0 to 1"),
        (lambda: Retry(within=float("nan")), ValueError, "within must be a number"),
        (lambda: Retry(on="ValueError"), TypeError, "on must be an exception class"),  # type: ignore[arg-type]
        (lambda: Retry(never_on=(int,)), TypeError, "never_on must be an exception class"),  # type: ignore[arg-type]
        (lambda: Cache(ttl="1"), TypeError, "ttl must be seconds or a timedelta"),  # type: ignore[arg-type]
        (lambda: Cache(key="n"), TypeError, "key must be a function"),  # type: ignore[arg-type]
        (lambda: Cache(version=""), TypeError, "version must be text"),
        (lambda: task.with_options(retry=3), TypeError, "retry must be a Retry"),  # type: ignore[arg-type]
        (lambda: task.with_options(cache=60), TypeError, "cache must be True or False"),  # type: ignore[arg-type]
        (lambda: task.with_options(heartbeat_timeout="1"), TypeError, "heartbeat_timeout"),  # type: ignore[arg-type]
        (lambda: workflow.with_options(timeout=-1), ValueError, "timeout must be"),
        (
            lambda: task.with_options(retry=Retry(), retry_delay=1),
            ValueError,
            "retry and retry_delay exclude each other",
        ),
    ],
)
def test_invalid_policy_is_refused(
    create: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        create()


def test_later_retry_options_replace_earlier_ones() -> None:
    @task.with_options(retry_max_attempts=7)
    async def step() -> None: ...

    assert step.with_options(retry=Retry(attempts=2)).options.retry_policy.attempts == 2
    again = step.with_options(retry=Retry(attempts=2)).with_options(retry_max_attempts=4)
    assert again.options.retry_policy.attempts == 5


def test_root_exports_classes_errors_and_version() -> None:
    from windlass import errors

    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, Exception):
            assert name in windlass.__all__ or value.__module__ != errors.__name__
    assert {"Task", "Workflow", "Retry", "Cache", "__version__"} <= set(windlass.__all__)
    assert windlass.__version__.count(".") >= 2
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        _ = windlass.missing  # type: ignore[attr-defined]
