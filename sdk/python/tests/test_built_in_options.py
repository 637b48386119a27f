"""Built-in tasks with options."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from run_fixture import resuming, run_from, types
from windlass import ExecutionContext, Graph, parallel, pause, pipeline, sleep, task, workflow

done: list[str] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    done.clear()


@task
async def double(n: int) -> int:
    return 2 * n


async def test_sleep_with_options_waits() -> None:
    @workflow
    async def naps(ctx: ExecutionContext[Any]) -> float:
        before = asyncio.get_running_loop().time()
        await sleep.with_options(name="nap")(0.05)
        return asyncio.get_running_loop().time() - before

    log = (await run_from(naps)).events
    assert log[-1].value >= 0.05
    assert log[1].name == "nap"


async def test_sleep_with_a_timeout_fails_when_it_expires() -> None:
    @workflow
    async def naps(ctx: ExecutionContext[Any]) -> None:
        await sleep.with_options(timeout=0.02)(60)

    assert (await run_from(naps)).events[-1].value["type"] == "ExecutionTimeoutError"


async def test_pause_with_options_pauses_and_returns_the_resume_body() -> None:
    @workflow
    async def asks(ctx: ExecutionContext[Any]) -> Any:
        return await pause.with_options(name="question")("review")

    paused = (await run_from(asks)).events
    assert paused[-1].value == {"name": "review", "output": None}
    assert (await run_from(asks, [*paused, resuming("yes")])).events[-1].value == "yes"


def test_pause_refuses_options_that_it_cannot_honour() -> None:
    with pytest.raises(ValueError, match="pause does not take the option timeout"):
        pause.with_options(timeout=3)


async def test_parallel_with_options_runs_its_branches() -> None:
    @workflow
    async def fans(ctx: ExecutionContext[Any]) -> list[int]:
        return list(await parallel.with_options(name="fan")(double(1), double(2)))

    log = (await run_from(fans)).events
    assert log[-1].value == [2, 4]
    assert log[1].name == "fan"


async def test_parallel_with_a_timeout_cancels_its_branches() -> None:
    @task
    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            done.append("cancelled")
            raise

    @workflow
    async def fans(ctx: ExecutionContext[Any]) -> None:
        await parallel.with_options(timeout=0.02)(slow(), slow())

    assert (await run_from(fans)).events[-1].value["type"] == "ExecutionTimeoutError"
    assert done == ["cancelled", "cancelled"]


async def test_pipeline_with_options_passes_values_on() -> None:
    @workflow
    async def pipes(ctx: ExecutionContext[Any]) -> int:
        result: int = await pipeline.with_options(name="pipe")(double, double, input=1)
        return result

    assert (await run_from(pipes)).events[-1].value == 4


async def test_graph_awaits_async_conditions() -> None:
    async def is_small(n: int) -> bool:
        await asyncio.sleep(0)
        return n < 10

    @task
    async def is_large(n: int) -> bool:
        return n >= 10

    graph = (
        Graph("sizes")
        .add_node("start", double)
        .add_node("small", double)
        .add_node("large", double)
        .add_node("end", lambda n: n)
        .add_edge("start", "small", is_small)
        .add_edge("start", "large", is_large)
        .add_edge("small", "end")
        .add_edge("large", "end")
        .start_with("start")
        .end_with("end")
    )

    @workflow
    async def walks(ctx: ExecutionContext[int]) -> Any:
        return await graph(ctx.input)

    assert (await run_from(walks, (), 1)).events[-1].value == 4
    log = (await run_from(walks, (), 6)).events
    assert log[-1].value == 24
    assert "is_large" in [event.name for event in log]


async def test_graph_runs_plain_functions_as_nodes() -> None:
    def add(a: int, b: int) -> int:
        return a + b

    graph = (
        Graph("sum")
        .add_node("a", lambda n: n + 1)
        .add_node("b", double)
        .add_node("c", double)
        .add_node("end", add)
        .add_edge("a", "b")
        .add_edge("a", "c", bool)
        .add_edge("b", "end")
        .add_edge("c", "end")
        .start_with("a")
        .end_with("end")
    )

    @workflow
    async def walks(ctx: ExecutionContext[int]) -> Any:
        return await graph(ctx.input)

    log = (await run_from(walks, (), 1)).events
    assert log[-1].value == 8
    assert types(log).count("TASK_COMPLETED") == 3


async def test_map_with_a_branch_that_pauses_records_the_other_branches_first() -> None:
    @task
    async def step(name: str) -> str:
        if name == "asks":
            return str(await pause(name))
        await asyncio.sleep(0.02)
        done.append(name)
        return name

    @workflow
    async def maps(ctx: ExecutionContext[Any]) -> list[str]:
        return await step.map(["asks", "a", "b"])

    paused = (await run_from(maps)).events
    assert paused[-1].type == "WORKFLOW_PAUSED"
    assert done == ["a", "b"]
    resumed = await run_from(maps, [*paused, resuming("yes")])
    assert resumed.events[-1].value == ["yes", "a", "b"]
    assert done == ["a", "b"]


@pytest.mark.parametrize("limit", [1, 3])
async def test_map_and_parallel_run_at_most_limit_calls_at_a_time(limit: int) -> None:
    running = most = 0

    @task
    async def step(n: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        running -= 1
        return n

    @workflow
    async def maps(ctx: ExecutionContext[Any]) -> list[list[int]]:
        return [
            await step.map(range(10), limit=limit),
            await parallel(*[step(n) for n in range(10, 20)], limit=limit),
        ]

    log = (await run_from(maps)).events
    assert log[-1].value == [list(range(10)), list(range(10, 20))]
    assert most == limit
    ids = [event.source_id for event in log if event.name == "parallel"]
    unlimited = (await run_from(maps, log[:-1])).events
    assert unlimited[-1].value == log[-1].value
    assert len(set(ids)) == 1


async def test_limit_of_zero_is_refused() -> None:
    @workflow
    async def maps(ctx: ExecutionContext[Any]) -> list[int]:
        return await double.map([1], limit=0)

    assert "positive integer" in (await run_from(maps)).events[-1].value["message"]
