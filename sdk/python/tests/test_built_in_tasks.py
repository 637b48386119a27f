"""Built-in tasks."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from conftest import HANG_S
from run_fixture import FakeServices, failure_of, resuming, run_from, types, value
from windlass import (
    ExecutionContext,
    ExecutionEvent,
    Graph,
    call,
    choice,
    now,
    parallel,
    pause,
    pipeline,
    progress,
    randint,
    randrange,
    saga,
    sleep,
    task,
    uuid4,
    workflow,
)
from windlass.tasks.config_task import get_config

done: list[str] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    done.clear()


@task
async def double(n: int) -> int:
    return 2 * n


@task
async def slow(name: str, delay_s: float = 0.02) -> str:
    try:
        await asyncio.sleep(delay_s)
    except asyncio.CancelledError:
        done.append(f"{name} stopped")
        raise
    done.append(name)
    return name


@task
async def fails() -> None:
    raise ValueError("failed")


@workflow
async def values(ctx: ExecutionContext[Any]) -> list[Any]:
    moment, unique = await now(), await uuid4()
    assert isinstance(moment, datetime)
    assert isinstance(unique, UUID)
    return [
        moment,
        unique,
        await now(),
        await randint(1, 10**9),
        await randrange(0, 10**9, 3),
        await choice(["a", "b", "c", "d"]),
    ]


async def test_replayed_random_values_are_equal_and_keep_their_type() -> None:
    first = (await run_from(values)).events
    random.seed(1)
    again = (await run_from(values, first[:-1])).events
    assert types(again) == ["WORKFLOW_COMPLETED"]
    assert again[-1].value == first[-1].value


async def test_parallel_returns_results_in_the_order_of_its_calls() -> None:
    @workflow
    async def both(ctx: ExecutionContext[Any]) -> Any:
        return await parallel(slow("a", 0.03), slow("b", 0.0), slow("a", 0.03))

    log = (await run_from(both)).events
    assert log[-1].value == ["a", "b", "a"]
    assert done[0] == "b"
    assert types(log).count("TASK_STARTED") == 4


async def test_parallel_without_calls_returns_an_empty_list() -> None:
    @workflow
    async def none(ctx: ExecutionContext[Any]) -> Any:
        return await parallel()

    assert (await run_from(none)).events[-1].value == []


async def test_parallel_failure_is_raised_and_cancels_branches_at_the_end_of_the_run() -> None:
    @workflow
    async def both(ctx: ExecutionContext[Any]) -> Any:
        return await parallel(slow("a", 10), fails())

    log = (await run_from(both)).events
    assert failure_of(log[-1].value) == {"type": "ValueError", "message": "failed"}
    assert done == ["a stopped"]


async def test_parallel_failure_that_is_caught_lets_other_branches_complete() -> None:
    @workflow
    async def both(ctx: ExecutionContext[Any]) -> Any:
        other = slow("a")
        try:
            await parallel(other, fails())
        except Exception as error:
            await sleep(0.05)
            return str(error)

    assert (await run_from(both)).events[-1].value == "failed"
    assert done == ["a"]


async def test_parallel_branches_next_to_a_pause_complete_first_and_are_not_repeated() -> None:
    @workflow
    async def both(ctx: ExecutionContext[Any]) -> Any:
        return await parallel(slow("a"), pause("p"), slow("b"))

    log = (await run_from(both)).events
    assert types(log)[-1] == "WORKFLOW_PAUSED"
    assert sorted(done) == ["a", "b"]
    log.append(resuming(7))
    assert (await run_from(both, log)).events[-1].value == ["a", 7, "b"]
    assert sorted(done) == ["a", "b"]


async def test_two_concurrent_pauses_are_resumed_one_after_the_other() -> None:
    @workflow
    async def both(ctx: ExecutionContext[Any]) -> Any:
        return await parallel(pause("p"), pause("q"))

    log: list[ExecutionEvent] = []
    for body in (1, 2):
        log += (await run_from(both, log)).events
        name = log[-1].value["name"]
        log.append(resuming([body, name]))
    ended = (await run_from(both, log)).events
    assert ended[-1].value == [[1, "p"], [2, "q"]]


async def test_parallel_coroutines_count_equal_calls_separately() -> None:
    delays = {"x": 0.0, "y": 0.0}

    async def branch(name: str) -> None:
        await asyncio.sleep(delays[name])
        await uuid4()

    @workflow
    async def both(ctx: ExecutionContext[Any]) -> None:
        await parallel(branch("x"), branch("y"))

    orders = []
    for late in ("y", "x"):
        delays = {"x": 0.0, "y": 0.0, late: 0.02}
        log = (await run_from(both)).events
        orders.append([e.source_id for e in log if (e.type, e.name) == ("TASK_STARTED", "uuid4")])
    assert orders[0] == orders[1][::-1]
    assert len(set(orders[0])) == 2


async def test_pause_inside_a_task_group_pauses_the_execution() -> None:
    @workflow
    async def grouped(ctx: ExecutionContext[Any]) -> Any:
        async with asyncio.TaskGroup() as group:
            asked = group.create_task(pause("p"))
        return asked.result()

    log = (await run_from(grouped)).events
    assert types(log)[-1] == "WORKFLOW_PAUSED"
    assert (await run_from(grouped, [*log, resuming("x")])).events[-1].value == "x"


async def test_pipeline_passes_each_result_to_the_next_task() -> None:
    @workflow
    async def piped(ctx: ExecutionContext[int]) -> Any:
        return await pipeline(double, double, input=ctx.input)

    assert (await run_from(piped, (), 3)).events[-1].value == 12


async def test_interrupted_sleep_waits_only_for_the_remaining_time() -> None:
    @workflow
    async def waits(ctx: ExecutionContext[Any]) -> str:
        await sleep(timedelta(hours=1))
        return "awake"

    @workflow
    async def begins(ctx: ExecutionContext[Any]) -> None:
        await asyncio.wait_for(sleep(timedelta(hours=1)), 0.01)

    log = (await run_from(begins)).events[:2]
    assert types(log) == ["WORKFLOW_STARTED", "TASK_STARTED"]
    hour_ago = (datetime.now(UTC) - timedelta(minutes=61)).isoformat()
    log[1] = ExecutionEvent("TASK_STARTED", log[1].source_id, "sleep", None, hour_ago, "1")
    ended = (await asyncio.wait_for(run_from(waits, log), HANG_S)).events
    assert types(ended) == ["TASK_STARTED", "TASK_COMPLETED", "WORKFLOW_COMPLETED"]


async def test_progress_names_its_task_and_is_not_recorded() -> None:
    @task
    async def advancing() -> None:
        progress(1)
        await progress({"done": 2})

    @task
    def in_a_thread() -> None:
        progress("thread")

    @workflow
    async def reported(ctx: ExecutionContext[Any]) -> None:
        await progress("not in a task")
        await advancing()
        await in_a_thread()

    services = FakeServices()
    log = (await run_from(reported, services=services)).events
    assert [(name, what) for _, name, what in services.progress_items] == [
        ("advancing", 1),
        ("advancing", {"done": 2}),
        ("in_a_thread", "thread"),
    ]
    assert "TASK_PROGRESS" not in types(log)
    progress("outside of everything")


async def test_repeated_call_of_a_workflow_uses_the_same_key() -> None:
    @workflow
    async def calls(ctx: ExecutionContext[Any]) -> list[Any]:
        return [
            await call("billing/invoice", 1),
            await call("invoice", 1, 2, mode="async"),
            await call("invoice"),
        ]

    first, second = FakeServices(), FakeServices()
    log = (await run_from(calls, services=first)).events
    await run_from(calls, log[:2], services=second)
    assert [(str(run.target), run.input) for run in first.awaited] == [
        ("billing/invoice", 1),
        ("default/invoice", None),
    ]
    assert [(str(run.target), run.input) for run in first.started] == [("default/invoice", [1, 2])]
    keys = [run.key for run in (*first.awaited, *first.started)]
    assert len(set(keys)) == 3
    assert keys == [run.key for run in (*second.awaited, *second.started)]


async def test_calls_of_compensations_continue_after_a_cancel() -> None:
    @workflow
    async def calls(ctx: ExecutionContext[Any]) -> None:
        await call("a")
        await call("b", on_cancel="leave")
        async with saga() as undo:
            undo.add(call, "c")
            raise ValueError("undo")

    services = FakeServices()
    await run_from(calls, services=services)
    ends = [(run.target.name, run.on_cancel) for run in services.awaited]
    assert ends == [("a", "cancel"), ("b", "leave"), ("c", "leave")]

    @workflow
    async def misuses(ctx: ExecutionContext[Any]) -> None:
        await call("a", on_cancel="stop")  # type: ignore[call-overload]

    log = (await run_from(misuses)).events
    assert log[-1].value["message"] == "on_cancel must be cancel or leave"


async def test_replayed_config_keeps_its_recorded_value() -> None:
    @workflow
    async def configured(ctx: ExecutionContext[Any]) -> Any:
        return await get_config("limit")

    services = FakeServices()
    services.stored_values = {"limit": 5}
    log = (await run_from(configured, services=services)).events
    services.stored_values = {"limit": 6}
    assert (await run_from(configured, log[:-1], services=services)).events[-1].value == 5


async def test_graph_follows_its_edges_and_conditions() -> None:
    @task
    async def both(a: int, b: int) -> int:
        return a + b

    graph = (
        Graph("sums")
        .add_node("start", double)
        .add_node("left", double)
        .add_node("right", double.with_options(name="again"))
        .add_node("never", fails)
        .add_node("end", both)
        .add_edge("start", "left")
        .add_edge("start", "right")
        .add_edge("start", "never", lambda n: n < 0)
        .add_edge("left", "end")
        .add_edge("right", "end")
        .start_with("start")
        .end_with("end")
    )

    @workflow
    async def walks(ctx: ExecutionContext[int]) -> Any:
        return await graph(ctx.input)

    log = (await run_from(walks, (), 1)).events
    assert log[-1].value == 8
    assert log[1].name == "graph_sums"
    assert value(log[-2]) == 8


def test_invalid_graph_is_rejected() -> None:
    graph = Graph("g").add_node("a", double).add_node("b", double)
    with pytest.raises(ValueError, match="first and a last"):
        graph.validate()
    graph.start_with("a").end_with("b")
    with pytest.raises(ValueError, match="no path leads to b"):
        graph.validate()
    graph.add_edge("a", "b").add_edge("b", "a")
    with pytest.raises(ValueError, match="cycle"):
        graph.validate()
    with pytest.raises(ValueError, match="no node 'c'"):
        graph.add_edge("a", "c")
