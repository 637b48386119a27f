"""Workflows that run others: what a cancel of the caller does to them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from effects import charge, effects
from windlass import ExecutionContext, call, saga, sleep, workflow
from windlass.testing import Engine

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
