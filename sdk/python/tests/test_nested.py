"""Workflows that run others: what a cancel of the caller does to them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, assert_type

import pytest

from effects import charge, effects
from windlass import ExecutionContext, ExecutionError, call, pause, saga, sleep, start, workflow
from windlass.testing import Engine, assert_survives_crashes

HOUR = timedelta(hours=1)


@workflow
async def slow(ctx: ExecutionContext[str]) -> str:
    await sleep(3600)
    effects.append(ctx.input)
    return ctx.input


@workflow
async def middle(ctx: ExecutionContext[None]) -> Any:
    return await call(slow, "below")


@workflow
async def parent(ctx: ExecutionContext[None]) -> Any:
    await call(slow, "detached", mode="async", on_cancel="leave")
    await call(slow, "started", mode="async")
    return await call(middle)


@pytest.mark.parametrize("park_after", [None, 5])
async def test_caller_is_cancelled_ends_the_tree_except_what_is_left(
    park_after: float | None,
) -> None:
    with Engine(park_after=park_after) as engine:
        run = await engine.start(parent)
        await engine.advance(60)
        assert run.is_parked == (park_after is not None)
        await run.cancel()
        await engine.advance(2 * HOUR)
        states = {str(one.input or one.workflow.name): str(one.state) for one in engine.executions}
    assert states == {
        "parent": "CANCELLED",
        "detached": "COMPLETED",
        "started": "CANCELLED",
        "middle": "CANCELLED",
        "below": "CANCELLED",
    }
    assert effects == ["detached"]


async def test_caller_has_ended_lets_started_workflows_continue(engine: Engine) -> None:
    @workflow
    async def starts(ctx: ExecutionContext[None]) -> Any:
        return await call(slow, "x", mode="async")

    run = await engine.start(starts)
    assert run.state == "COMPLETED"
    await run.cancel()
    await engine.advance(2 * HOUR)
    assert effects == ["x"]


async def test_caller_is_cancelled_completes_workflows_of_its_compensations(
    engine: Engine,
) -> None:
    @workflow
    async def refund(ctx: ExecutionContext[int]) -> int:
        await sleep(60)
        return await charge(-ctx.input)

    @workflow
    async def orders(ctx: ExecutionContext[None]) -> None:
        async with saga() as undo:
            undo.add(call, refund, await charge(5))
            await call(slow, "shipped")

    run = await engine.start(orders)
    await run.cancel()
    await engine.advance(2 * HOUR)
    assert run.state == "CANCELLED"
    assert effects == ["charge 5", "charge -5"]


@dataclass
class Report:
    month: int


@workflow
async def report(ctx: ExecutionContext[Report]) -> Report:
    await sleep(60)
    await charge(ctx.input.month)
    return Report(ctx.input.month + 1)


@workflow
async def starts_reports(ctx: ExecutionContext[None]) -> Any:
    first, second = await start(report, Report(1)), await start(report, Report(1))
    assert first.execution_id != second.execution_id
    third = await start("default/report", {"month": 5}, on_cancel="leave")
    results = [await second.result(), await first.result(), await first.result()]
    assert_type(results, list[Report])
    return [*results, await third.result()]


@pytest.mark.parametrize("park_after", [None, 5])
async def test_results_of_started_workflows_are_awaited_later(park_after: float | None) -> None:
    with Engine(park_after=park_after) as engine:
        engine.register(report)
        run = await engine.start(starts_reports)
        await engine.advance(HOUR)
        assert run.result() == [{"month": 2}] * 3 + [{"month": 6}]
    assert sorted(effects) == ["charge 1", "charge 1", "charge 5"]


async def test_started_workflows_survive_crashes() -> None:
    found = await assert_survives_crashes(
        starts_reports, setup=lambda engine: engine.register(report)
    )
    assert found.cuts > 15


async def test_started_workflow_is_cancelled(engine: Engine) -> None:
    @workflow
    async def stops(ctx: ExecutionContext[None]) -> str:
        started = await start(slow, "x")
        await started.cancel()
        try:
            await started.result()
        except ExecutionError as error:
            await started.cancel()
            return str(error)
        return "not cancelled"

    run = await engine.start(stops)
    assert run.result() == "the workflow default/slow is CANCELLED"
    assert effects == []


@pytest.mark.parametrize("park_after", [None, 5])
async def test_started_workflow_is_paused_keeps_its_caller_waiting(
    park_after: float | None,
) -> None:
    @workflow
    async def asks(ctx: ExecutionContext[None]) -> Any:
        return await pause("question")

    @workflow
    async def waits(ctx: ExecutionContext[bool]) -> Any:
        started = await start(asks, wait_paused=ctx.input)
        return await started.result()

    with Engine(park_after=park_after) as engine:
        run = await engine.start(waits, True)
        await engine.advance(HOUR)
        assert run.state == "RUNNING"
        await engine.executions[1].resume("answer")
        assert run.result() == "answer"
        failed = await engine.start(waits, False)
        assert failed.output["message"] == "the workflow default/asks is PAUSED"


async def test_misused_start_names_the_option(engine: Engine) -> None:
    @workflow
    async def misuses(ctx: ExecutionContext[None]) -> None:
        await start(slow, "x", on_cancel="stop")  # type: ignore[call-overload]

    run = await engine.start(misuses)
    assert run.output["message"] == "on_cancel must be cancel or leave"
