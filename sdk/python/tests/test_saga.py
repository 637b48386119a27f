"""Sagas: compensations after a failure or a cancel, and crashes while they run."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from effects import effects
from windlass import (
    CompensationError,
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
from windlass.domain.events import ExecutionEventType as E
from windlass.testing import Engine, assert_survives_crashes


class OutOfStockError(Exception):
    pass


@task
async def book(name: str) -> str:
    effects.append(f"book {name}")
    return f"id of {name}"


@task
async def undo_booking(id: str) -> None:
    effects.append(f"undo {id}")


@task
async def undo_twice(id: str) -> None:
    if current().attempt == 1:
        raise ConnectionError("once")
    effects.append(f"undo {id}")


@task.with_options(retry=Retry(attempts=2, delay=1))
async def cannot_undo(id: str) -> None:
    effects.append(f"cannot undo {id}")
    raise ConnectionError("down")


@task
async def ship() -> None:
    raise OutOfStockError("no shoes")


@workflow
async def order(ctx: ExecutionContext[None]) -> str:
    async with saga() as undo:
        for name in ("flight", "hotel", "car"):
            undo.add(undo_twice if name == "hotel" else undo_booking, await book(name))
        await ship()
    return "shipped"


async def finish(engine: Engine, flow: Any) -> Any:
    run = await engine.start(flow)
    await engine.advance_until_settled(run, timedelta(days=100))
    return run


async def test_block_fails_compensates_in_reverse_order_with_retries(engine: Engine) -> None:
    run = await finish(engine, order)
    with pytest.raises(OutOfStockError):
        run.result()
    assert effects[3:] == ["undo id of car", "undo id of hotel", "undo id of flight"]


async def test_crash_at_any_event_leaves_the_same_compensations() -> None:
    report = await assert_survives_crashes(order)
    assert report.cuts >= 20


async def test_block_succeeds_compensates_nothing(engine: Engine) -> None:
    @workflow
    async def succeeds(ctx: ExecutionContext[None]) -> str:
        async with saga() as undo:
            undo.add(undo_booking, await book("flight"))
        return "done"

    assert (await finish(engine, succeeds)).result() == "done"
    assert effects == ["book flight"]


@workflow
async def unlucky(ctx: ExecutionContext[None]) -> None:
    async with saga() as undo:
        undo.add(undo_booking, await book("flight"))
        undo.add(cannot_undo, await book("hotel"))
        undo.add(undo_booking, await book("car"))
        await ship()


async def test_compensation_fails_runs_the_others_and_names_it(engine: Engine) -> None:
    run = await finish(engine, unlucky)
    with pytest.raises(CompensationError, match=r"1 compensations failed: cannot_undo_.*: down"):
        run.result()
    assert run.output["cause"]["type"] == "OutOfStockError"
    assert effects[3:] == ["undo id of car", *2 * ["cannot undo id of hotel"], "undo id of flight"]
    await assert_survives_crashes(unlucky)


async def test_execution_is_cancelled_compensates_before_it_ends(engine: Engine) -> None:
    cancelled: list[bool] = []

    @task
    def undo_in_thread(id: str) -> None:
        cancelled.append(current().cancelled)
        effects.append(f"undo {id}")

    @workflow
    async def waits(ctx: ExecutionContext[None]) -> None:
        async with saga() as undo:
            undo.add(undo_in_thread, await book("flight"))
            undo.add(undo_twice, await book("hotel"))
            await sleep(3600)

    run = await engine.start(waits)
    await run.cancel()
    assert run.state == "RUNNING"  # waits for the retry of a compensation
    await engine.advance_until_settled(run, timedelta(hours=1))
    assert run.state == "CANCELLED"
    assert effects[2:] == ["undo id of hotel", "undo id of flight"]
    assert cancelled == [False]


async def test_cancel_during_compensation_lets_it_end(engine: Engine) -> None:
    @workflow
    async def fails(ctx: ExecutionContext[None]) -> None:
        async with saga() as undo:
            undo.add(undo_booking, await book("flight"))
            undo.add(undo_twice, await book("hotel"))
            await ship()

    run = await engine.start(fails)
    await run.cancel()
    assert effects == ["book flight", "book hotel"]
    await engine.advance_until_settled(run, timedelta(hours=1))
    assert run.state == "CANCELLED"
    assert effects[2:] == ["undo id of hotel", "undo id of flight"]


async def test_workflow_times_out_compensates(engine: Engine) -> None:
    @workflow.with_options(timeout=60)
    async def slow(ctx: ExecutionContext[None]) -> None:
        async with saga() as undo:
            undo.add(undo_twice, await book("flight"))
            await sleep(3600)

    run = await finish(engine, slow)
    assert run.output["type"] == "ExecutionTimeoutError"
    assert effects == ["book flight", "undo id of flight"]
    await assert_survives_crashes(slow)


async def test_pause_in_the_block_compensates_nothing(engine: Engine) -> None:
    @workflow
    async def asks(ctx: ExecutionContext[None]) -> None:
        async with saga() as undo:
            undo.add(undo_booking, await book("flight"))
            await pause("review")
            await ship()

    run = await engine.start(asks)
    assert run.paused_on == "review"
    assert effects == ["book flight"]
    await run.resume()
    assert effects == ["book flight", "undo id of flight"]
    await assert_survives_crashes(asks, resumes=[None])


@workflow
async def books_in_parallel(ctx: ExecutionContext[None]) -> None:
    async with saga() as undo:

        async def step(name: str, seconds: int) -> None:
            await sleep(seconds)
            undo.add(undo_booking, await book(name))

        await parallel(step("slow", 60), ship(), step("slower", 3600))


async def test_branch_is_running_when_another_fails_is_compensated_too(engine: Engine) -> None:
    run = await finish(engine, books_in_parallel)
    assert run.output["type"] == "OutOfStockError"
    assert effects == ["book slow", "book slower", "undo id of slower", "undo id of slow"]
    await assert_survives_crashes(books_in_parallel)


@workflow
async def books_all_and_fails(ctx: ExecutionContext[None]) -> None:
    async with saga() as outer:

        async def step(name: str) -> None:
            outer.add(undo_booking, await book(name))
            async with saga() as inner:
                inner.add(undo_booking, f"inner {name}")
                outer.add(undo_booking, f"outer {name}")

        await parallel(step("flight"), parallel(step("hotel"), step("car"), limit=1))
        await ship()


async def test_branches_of_a_recorded_parallel_are_compensated_after_a_crash(
    engine: Engine,
) -> None:
    await finish(engine, books_all_and_fails)
    assert len(effects) == 3 + 6
    await assert_survives_crashes(books_all_and_fails)


async def test_compensation_added_in_a_task_or_a_call_of_first_is_refused(engine: Engine) -> None:
    @workflow
    async def adds(ctx: ExecutionContext[bool]) -> None:
        async with saga() as undo:

            @task
            async def step() -> None:
                undo.add(undo_booking, "a")

            async def branch() -> None:
                undo.add(undo_booking, "a")

            await (step() if ctx.input else first(branch()))

    for in_task in (True, False):
        run = await engine.start(adds, in_task)
        with pytest.raises(RuntimeError, match="call it in the block of the saga"):
            run.result()


async def test_loser_of_first_is_compensated_before_first_returns(engine: Engine) -> None:
    async def loses() -> str:
        async with saga() as undo:
            undo.add(undo_booking, await book("flight"))
            await sleep(3600)
        return "late"

    @workflow
    async def races(ctx: ExecutionContext[None]) -> list[Any]:
        winner = await first(loses(), book("hotel"))
        return [winner, list(effects)]

    run = await finish(engine, races)
    assert run.result()[0] == "id of hotel"
    assert sorted(effects) == ["book flight", "book hotel", "undo id of flight"]


async def test_nested_sagas_compensate_from_the_inside_out(engine: Engine) -> None:
    @workflow
    async def nests(ctx: ExecutionContext[None]) -> str:
        async with saga() as outer:
            outer.add(undo_booking, await book("flight"))
            async with saga() as inner:
                inner.add(undo_booking, await book("hotel"))
                await ship()
        return "never"

    run = await finish(engine, nests)
    assert run.state == "FAILED"
    assert effects[2:] == ["undo id of hotel", "undo id of flight"]
    await assert_survives_crashes(nests)


async def test_equal_compensations_are_recorded_apart(engine: Engine) -> None:
    @workflow
    async def books_twice(ctx: ExecutionContext[None]) -> None:
        await undo_booking("a")
        async with saga() as undo:
            undo.add(undo_booking, "a")
            undo.add(undo_booking, "a")
            await ship()

    run = await finish(engine, books_twice)
    completed = [e.source_id for e in run.events if e.type == E.TASK_COMPLETED]
    assert len(set(completed)) == 3
    await assert_survives_crashes(books_twice)


async def test_saga_is_misused_names_what_to_do(engine: Engine) -> None:
    messages: list[str] = []

    async def plain() -> None: ...

    @workflow
    async def misuses(ctx: ExecutionContext[None]) -> None:
        undo = saga()
        with pytest.raises(RuntimeError, match="outside the block"):
            undo.add(undo_booking, "a")
        async with undo:
            with pytest.raises(TypeError, match="decorate it with @task"):
                undo.add(plain)
        with pytest.raises(RuntimeError, match="outside the block"):
            undo.add(undo_booking, "a")
        with pytest.raises(RuntimeError, match="call saga"):
            async with undo:
                pass
        messages.append("checked")

    (await finish(engine, misuses)).result()
    assert messages == ["checked"]
    with pytest.raises(TypeError, match="retry must be a Retry"):
        saga(retry=3)  # type: ignore[arg-type]


async def test_block_ignores_its_cancel_compensates_nothing(engine: Engine) -> None:
    @workflow
    async def ignores(ctx: ExecutionContext[None]) -> str:
        async with saga() as undo:
            undo.add(undo_booking, await book("flight"))
            try:
                await sleep(3600)
            except asyncio.CancelledError:
                return "completed anyway"
        return "slept"

    run = await engine.start(ignores)
    await run.cancel()
    assert run.result() == "completed anyway"
    assert effects == ["book flight"]
