"""Parking: an execution that only waits ends its run and continues from the log."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from windlass import ExecutionContext, call, first, parallel, sleep, task, workflow
from windlass._parking import WakeCondition
from windlass.testing import Engine

HOUR = timedelta(hours=1)

bodies: list[str] = []


@pytest.fixture
def engine() -> Iterator[Engine]:
    bodies.clear()
    with Engine(park_after=5) as engine:
        yield engine


@task
async def step(name: str) -> str:
    bodies.append(name)
    return name


@workflow
async def sleeper(ctx: ExecutionContext[float]) -> str:
    await step("before")
    await sleep(ctx.input)
    return await step("after")


async def test_a_long_sleep_is_parked_and_repeats_no_task(engine: Engine) -> None:
    run = await engine.start(sleeper, 3600)
    await engine.advance(1)
    assert run.is_parked
    await engine.advance(3597)
    assert run.is_parked
    await engine.advance(2)
    assert run.result() == "after"
    assert bodies == ["before", "after"]


async def test_a_short_sleep_is_not_parked(engine: Engine) -> None:
    run = await engine.start(sleeper, 4)
    await engine.advance(3)
    assert not run.is_parked
    await engine.advance(1)
    assert run.result() == "after"


async def test_many_waits_one_after_another(engine: Engine) -> None:
    @workflow
    async def months(ctx: ExecutionContext[None]) -> int:
        for n in range(24):
            await sleep(timedelta(days=30))
            await step(str(n))
        return 24

    run = await engine.start(months)
    await engine.advance(timedelta(days=24 * 30 + 1))
    assert run.result() == 24
    assert bodies == [str(n) for n in range(24)]


async def test_a_retry_delay_is_parked_and_counts_from_the_failure(engine: Engine) -> None:
    @task.with_options(retry_max_attempts=1, retry_delay=60)
    async def flaky() -> str:
        bodies.append("")
        if len(bodies) == 1:
            raise ConnectionError
        return "done"

    @workflow
    async def retries(ctx: ExecutionContext[None]) -> str:
        return await flaky()

    run = await engine.start(retries)
    await engine.advance(1)
    assert run.is_parked
    await engine.advance(58)
    assert run.is_parked
    await engine.advance(2)
    assert run.result() == "done"
    assert len(bodies) == 2


async def test_a_call_is_parked_until_the_child_has_ended(engine: Engine) -> None:
    @workflow
    async def parent(ctx: ExecutionContext[None]) -> str:
        return str(await call(sleeper, 600.0))

    run = await engine.start(parent)
    await engine.advance(10)
    assert run.is_parked
    await engine.advance(591)
    assert run.result() == "after"
    assert len(engine.executions) == 2
    assert bodies == ["before", "after"]


async def test_nested_calls_are_all_parked(engine: Engine) -> None:
    @workflow
    async def nested(ctx: ExecutionContext[int]) -> int:
        if ctx.input == 0:
            await sleep(HOUR)
            return 0
        return 1 + int(await call(nested, ctx.input - 1))

    run = await engine.start(nested, 20)
    await engine.advance(200)
    assert [execution.is_parked for execution in engine.executions] == [True] * 21
    await engine.advance(HOUR)
    assert run.result() == 20


async def test_branches_that_all_wait_are_parked_until_the_first_of_them(engine: Engine) -> None:
    @workflow
    async def branches(ctx: ExecutionContext[None]) -> list[Any]:
        async def branch(delay: timedelta, name: str) -> str:
            await sleep(delay)
            return await step(name)

        return list(await parallel(branch(HOUR, "long"), branch(HOUR / 2, "short")))

    run = await engine.start(branches)
    await engine.advance(1)
    assert run.is_parked
    await engine.advance(HOUR / 2)
    assert bodies == ["short"]
    assert run.is_parked
    await engine.advance(HOUR / 2)
    assert run.result() == ["long", "short"]
    assert bodies == ["short", "long"]


async def test_a_branch_that_works_prevents_parking(engine: Engine) -> None:
    @task
    async def long_task() -> str:
        bodies.append("working")
        await asyncio.sleep(1800)
        return "worked"

    @workflow
    async def branches(ctx: ExecutionContext[None]) -> list[Any]:
        return list(await parallel(sleep(HOUR), long_task()))

    run = await engine.start(branches)
    await engine.advance(1000)
    assert not run.is_parked
    await engine.advance(1000)
    assert run.is_parked
    await engine.advance(HOUR)
    assert run.result() == [None, "worked"]
    assert bodies == ["working"]


async def test_a_wait_inside_a_task_prevents_parking(engine: Engine) -> None:
    @task
    async def outer() -> str:
        bodies.append("outer")
        await sleep(HOUR)
        return "done"

    @workflow
    async def body(ctx: ExecutionContext[None]) -> str:
        return await outer()

    run = await engine.start(body)
    await engine.advance(100)
    assert not run.is_parked
    await engine.advance(HOUR)
    assert run.result() == "done"
    assert bodies == ["outer"]


async def test_a_time_limit_of_the_body_is_kept(engine: Engine) -> None:
    @workflow
    async def limited(ctx: ExecutionContext[None]) -> str:
        try:
            async with asyncio.timeout(60):
                await sleep(HOUR)
        except TimeoutError:
            return "timed out"
        return "slept"

    run = await engine.start(limited)
    await engine.advance(61)
    assert run.result() == "timed out"


async def test_a_time_limit_of_a_task_is_kept(engine: Engine) -> None:
    @workflow
    async def limited(ctx: ExecutionContext[None]) -> None:
        await sleep.with_options(timeout=60)(3600)

    run = await engine.start(limited)
    await engine.advance(61)
    assert run.state == "FAILED"


async def test_the_timeout_of_the_workflow_wakes_it(engine: Engine) -> None:
    @workflow.with_options(timeout=60)
    async def limited(ctx: ExecutionContext[None]) -> None:
        await sleep(HOUR)

    run = await engine.start(limited)
    await engine.advance(30)
    assert run.is_parked
    await engine.advance(31)
    assert run.state == "FAILED"


async def test_first_is_parked_until_the_winner(engine: Engine) -> None:
    @workflow
    async def race(ctx: ExecutionContext[None]) -> Any:
        return await first(call(sleeper, 60.0), sleep(HOUR))

    run = await engine.start(race)
    await engine.advance(20)
    assert run.is_parked
    await engine.advance(50)
    assert run.result() == "after"


async def test_a_cancel_while_parked_ends_the_execution(engine: Engine) -> None:
    run = await engine.start(sleeper, 3600)
    await engine.advance(1)
    await run.cancel()
    assert run.state == "CANCELLED"
    await engine.advance(HOUR)
    assert run.state == "CANCELLED"
    assert bodies == ["before"]


def test_a_condition_keeps_its_values_on_the_wire() -> None:
    for condition in (
        WakeCondition(None, ("a", "b")),
        WakeCondition(Engine().now + HOUR, ()),
    ):
        assert WakeCondition.from_wire(condition.to_wire()) == condition
