"""Sagas in concurrent branches: what interrupts them, and what only lets them continue later."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from effects import effects
from windlass import (
    ExecutionContext,
    Retry,
    current,
    first,
    parallel,
    pause,
    saga,
    sleep,
    task,
    workflow,
)
from windlass.testing import Engine, assert_survives_crashes


@task
async def book(name: str) -> str:
    effects.append(f"book {name}")
    return name


@task
async def undo_booking(name: str) -> None:
    effects.append(f"undo {name}")


@task.with_options(retry=Retry(attempts=3, delay=60))
async def undo_late(name: str) -> None:
    if current().attempt < 3:
        raise ConnectionError("not yet")
    effects.append(f"undo {name}")


@task
async def ship() -> None:
    effects.append("ship")


@task
async def fails(after: int) -> None:
    await sleep(after)
    raise ValueError("failed")


async def leg(name: str, undo: Any = undo_booking, seconds: int = 100) -> str:
    async with saga() as steps:
        steps.add(undo, await book(name))
        await sleep(seconds)
        await ship()
    return name


async def pauses() -> Any:
    await sleep(1)
    return await pause("review")


@workflow
async def gathers(ctx: ExecutionContext[None]) -> list[Any]:
    return list(await asyncio.gather(leg("flight"), pauses()))


@workflow
async def groups(ctx: ExecutionContext[None]) -> list[Any]:
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(leg("flight")), group.create_task(pauses())]
    return [done.result() for done in running]


@workflow
async def races(ctx: ExecutionContext[None]) -> list[Any]:
    async with asyncio.TaskGroup() as group:
        race = group.create_task(_race())
        pausing = group.create_task(pauses())
    return [race.result(), pausing.result()]


async def _race() -> str:
    return await first(leg("flight"), leg("hotel", seconds=200))


@pytest.mark.parametrize("flow", [gathers, groups, races])
async def test_another_branch_pauses_compensates_nothing(flow: Any, engine: Engine) -> None:
    run = await engine.start(flow)
    await engine.advance(10)
    assert run.paused_on == "review"
    await run.resume("ok")
    await engine.advance_until_settled(run, timedelta(hours=1))
    assert run.result() == ["flight", "ok"]
    assert "undo flight" not in effects
    await assert_survives_crashes(flow, resumes=["ok"])


@workflow
async def pauses_and_fails(ctx: ExecutionContext[None]) -> None:
    async def grouped() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(leg("flight"))
            group.create_task(pauses())

    await parallel(grouped(), fails(50))


@workflow.with_options(timeout=50)
async def pauses_and_times_out(ctx: ExecutionContext[None]) -> None:
    await parallel(leg("flight"), pause("review"))


@pytest.mark.parametrize("flow", [pauses_and_fails, pauses_and_times_out])
async def test_branch_pauses_and_the_execution_fails_compensates(flow: Any, engine: Engine) -> None:
    run = await engine.start(flow)
    await engine.advance_until_settled(run, timedelta(hours=1))
    assert run.state == "FAILED"
    assert effects == ["book flight", "undo flight"]
    await assert_survives_crashes(flow)


async def test_loser_of_first_is_compensated_although_another_branch_pauses(
    engine: Engine,
) -> None:
    @workflow
    async def waits(ctx: ExecutionContext[None]) -> tuple[Any, ...]:
        return await parallel(first(leg("flight"), sleep(50)), pause("review"))

    run = await engine.start(waits)
    await engine.advance_until_settled(run, timedelta(hours=1))
    assert run.paused_on == "review"
    assert effects == ["book flight", "undo flight"]


@workflow
async def fails_beside(ctx: ExecutionContext[None]) -> None:
    await parallel(leg("flight", undo_late), leg("hotel"), fails(50))


@workflow
async def both_fail(ctx: ExecutionContext[None]) -> None:
    async def failing() -> None:
        async with saga() as steps:
            steps.add(undo_late, await book("flight"))
            await fails(10)

    await parallel(failing(), fails(50))


@pytest.mark.parametrize("flow", [fails_beside, both_fail])
async def test_another_branch_fails_compensates_to_the_end(flow: Any, engine: Engine) -> None:
    run = await engine.start(flow)
    await engine.advance_until_settled(run, timedelta(hours=1))
    assert run.output["type"] == "ValueError"
    assert "undo flight" in effects
    await assert_survives_crashes(flow)


@workflow.with_options(timeout=60)
async def times_out(ctx: ExecutionContext[None]) -> None:
    async with saga() as steps:
        steps.add(undo_late, "before")
        await parallel(book("flight"), book("hotel"))
        steps.add(undo_booking, "flight")
        steps.add(undo_late, "hotel")
        await sleep(90)
        await ship()


async def test_crash_after_the_timeout_leaves_the_same_compensations(engine: Engine) -> None:
    run = await engine.start(times_out)
    await engine.advance_until_settled(run, timedelta(hours=2))
    assert effects[2:] == ["undo hotel", "undo flight", "undo before"]
    await assert_survives_crashes(times_out)


@pytest.mark.parametrize("flow", [fails_beside, both_fail, times_out])
async def test_execution_is_parked_between_attempts_compensates_to_the_end(flow: Any) -> None:
    with Engine(park_after=5) as engine:
        run = await engine.start(flow)
        await engine.advance(51)
        await engine.advance(40)
        assert run.is_parked
        await engine.advance_until_settled(run, timedelta(hours=1))
        assert run.state == "FAILED"
    undone = [effect for effect in effects if effect.startswith("undo")]
    assert len(undone) == len(set(undone)) == (1 if flow is both_fail else len(undone))
    assert "undo flight" in undone
    assert "ship" not in effects
