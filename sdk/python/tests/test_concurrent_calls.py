"""`first`, `as_completed` and `parallel(return_exceptions=True)`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from windlass import (
    ExecutionContext,
    ExecutionError,
    as_completed,
    first,
    parallel,
    pause,
    sleep,
    task,
    workflow,
)
from windlass.domain.events import ExecutionEventType as E
from windlass.testing import Engine, assert_deterministic, assert_survives_crashes


class RefusedError(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@task
async def refuse(code: int) -> int:
    raise RefusedError(code)


async def after(seconds: int, value: Any = None) -> Any:
    await sleep(seconds)
    if isinstance(value, int) and value < 0:
        await refuse(-value)
    return seconds if value is None else value


async def finish(engine: Engine, flow: Any, input: Any = None) -> Any:
    run = await engine.start(flow, input)
    await engine.advance_until_settled(run, timedelta(days=100))
    return run


@workflow
async def races(ctx: ExecutionContext[list[int]]) -> Any:
    winner = await first(*[after(seconds) for seconds in ctx.input])
    await sleep(1)
    return winner


async def test_first_returns_the_earliest_result_and_cancels_the_others(engine: Engine) -> None:
    run = await finish(engine, races, [300, 20, 100])
    assert run.result() == 20
    assert (engine.now - engine._start).total_seconds() == 21
    completed = [e.name for e in run.events if e.type == E.TASK_COMPLETED]
    assert completed == ["sleep", "first", "sleep"]


@pytest.mark.parametrize("seconds", [[300, 20, 100], [7, 7, 7], [5]])
async def test_crash_around_first_keeps_the_winner(seconds: list[int]) -> None:
    await assert_survives_crashes(races, seconds)
    await assert_deterministic(races, seconds)


async def test_first_to_end_fails_raises_its_failure(engine: Engine) -> None:
    @workflow
    async def fails(ctx: ExecutionContext[None]) -> int:
        try:
            await first(after(60), after(1, -7))
        except RefusedError as error:
            return error.code
        return 0

    assert (await finish(engine, fails)).result() == 7
    await assert_survives_crashes(fails)


async def test_first_with_a_pause_waits_for_the_other_calls(engine: Engine) -> None:
    @workflow
    async def reviews(ctx: ExecutionContext[int]) -> Any:
        return await first(pause("review"), after(60))

    assert (await finish(engine, reviews)).result() == 60


async def test_first_of_pauses_pauses(engine: Engine) -> None:
    @workflow
    async def reviews(ctx: ExecutionContext[None]) -> Any:
        return await first(pause("one"), pause("two"))

    run = await finish(engine, reviews)
    assert run.paused_on in {"one", "two"}
    name = run.paused_on
    await run.resume(f"body of {name}")
    assert run.result() == f"body of {name}"


async def test_first_without_calls_is_refused(engine: Engine) -> None:
    @workflow
    async def races_nothing(ctx: ExecutionContext[None]) -> None:
        await first()

    with pytest.raises(ExecutionError, match="first needs at least one call"):
        (await finish(engine, races_nothing)).result()


@workflow
async def collects(ctx: ExecutionContext[list[list[int]]]) -> list[Any]:
    collected: list[Any] = []
    calls = [after(seconds, value) for seconds, value in ctx.input]
    async for done in as_completed(calls, limit=3):
        try:
            collected.append(await done)
        except RefusedError as error:
            collected.append(f"refused {error.code}")
        await sleep(1)
    return collected


ITEMS = [[30, 1], [10, -2], [20, 3], [5, 4], [1, 5]]


async def test_as_completed_yields_in_the_order_of_completion(engine: Engine) -> None:
    run = await finish(engine, collects, ITEMS)
    # Three run at a time: the fourth starts after 10 s, the fifth after 15 s.
    assert run.result() == ["refused 2", 4, 5, 3, 1]


async def test_crash_while_iterating_keeps_the_order() -> None:
    report = await assert_survives_crashes(collects, ITEMS)
    assert report.cuts >= 30
    await assert_deterministic(collects, ITEMS)


async def test_as_completed_of_tasks_decodes_and_of_nothing_ends(engine: Engine) -> None:
    @task
    async def double(n: int) -> tuple[int, int]:
        return (n, 2 * n)

    @workflow
    async def doubles(ctx: ExecutionContext[None]) -> list[Any]:
        async for _ in as_completed([]):
            raise AssertionError
        found = [await done async for done in as_completed([double(n) for n in range(5)])]
        assert all(isinstance(item, tuple) for item in found)
        return sorted(found)

    run = await finish(engine, doubles)
    assert run.result() == [[n, 2 * n] for n in range(5)]


async def test_call_of_as_completed_pauses_comes_last(engine: Engine) -> None:
    @workflow
    async def asks(ctx: ExecutionContext[None]) -> list[Any]:
        calls = [pause("review"), after(10), after(20)]
        return [await done async for done in as_completed(calls)]

    run = await finish(engine, asks)
    assert run.paused_on == "review"
    await run.resume("yes")
    await engine.advance_until_settled(run, timedelta(days=1))
    assert run.result() == [10, 20, "yes"]
    await assert_survives_crashes(asks, resumes=["yes"])


async def test_loop_ends_early_leaves_no_call_behind(engine: Engine) -> None:
    @workflow
    async def takes_one(ctx: ExecutionContext[None]) -> Any:
        async for done in as_completed([after(10), after(1000)]):
            return await done
        raise AssertionError

    run = await finish(engine, takes_one)
    assert run.result() == 10


@workflow
async def gathers(ctx: ExecutionContext[None]) -> list[Any]:
    outcomes = await parallel(
        after(10, 1), refuse(8), after(5, -9), sleep(1), limit=2, return_exceptions=True
    )
    kinds = [outcome for outcome in outcomes if isinstance(outcome, RefusedError)]
    assert all(isinstance(error, ExecutionError) for error in kinds)
    return [outcomes[0], *[error.code for error in kinds], outcomes[3]]


async def test_parallel_returns_exceptions_in_place_of_results(engine: Engine) -> None:
    run = await finish(engine, gathers)
    assert run.result() == [1, 8, 9, None]
    await assert_survives_crashes(gathers)


async def test_branch_pauses_with_returned_exceptions_pauses(engine: Engine) -> None:
    @workflow
    async def asks(ctx: ExecutionContext[None]) -> list[str]:
        outcomes = await parallel(refuse(8), pause("review"), return_exceptions=True)
        return [str(outcome) for outcome in outcomes]

    run = await finish(engine, asks)
    assert run.paused_on == "review"
    await run.resume("yes")
    assert run.result() == ["8", "yes"]


@pytest.mark.parametrize("limit", [0, -1, True, "2"])
async def test_invalid_limit_of_as_completed_is_refused(engine: Engine, limit: Any) -> None:
    @workflow
    async def collects_nothing(ctx: ExecutionContext[None]) -> None:
        as_completed([], limit=limit)

    with pytest.raises(ValueError, match="limit must be a positive integer"):
        (await finish(engine, collects_nothing)).result()
