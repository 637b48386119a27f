"""Parking by the worker: the release with its condition, and the run that continues."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest
from aiohttp import web

from conftest import Workers, until
from server_fake import TERMINAL, FakeServer, StoredExecution

SOURCE = """
import asyncio, os
from windlass import ExecutionContext, call, parallel, sleep, task, workflow

@task
async def step(name):
    return name

@task
async def until_exists(path):
    while not os.path.exists(path):
        await asyncio.sleep(0.01)

@workflow
async def calls(ctx: ExecutionContext):
    return await parallel(call("billing/invoice", 1), call("billing/invoice", 2))

@workflow
async def works_and_calls(ctx: ExecutionContext):
    return await parallel(until_exists(ctx.input), call("billing/invoice", 1))

@workflow
async def sleeps(ctx: ExecutionContext):
    await step("before")
    await parallel(sleep(ctx.input), sleep(ctx.input + 1000))
    return await step("after")

@workflow.with_options(durability="transient")
async def transient(ctx: ExecutionContext):
    await sleep(ctx.input)
"""


def has_changed(stored: StoredExecution, parked: int) -> bool:
    return len(stored.conditions) > parked or stored.state in TERMINAL


@pytest.fixture
def parking_server(server: FakeServer) -> FakeServer:
    server.features = ["parking"]
    return server


async def test_a_long_sleep_is_released_until_its_end_with_all_its_entries(
    parking_server: FakeServer, workers: Workers
) -> None:
    await workers.start()
    stored = parking_server.start(SOURCE, "sleeps", 3600)
    await until(lambda: stored.conditions)
    # The claim is dated by the server, whose clock differs from that of the worker.
    [condition] = stored.conditions
    assert "2026-01-02T04:04:05" <= condition["wake_at"] < "2026-01-02T04:05"
    assert condition["wake_on"] == []
    assert stored.types().count("TASK_STARTED") == 4
    assert stored.types().count("TASK_COMPLETED") == 1
    assert stored.state == "SCHEDULED"


async def test_a_woken_execution_continues_and_repeats_no_task(
    parking_server: FakeServer, workers: Workers
) -> None:
    await workers.start(park_after_s=0.05)
    stored = parking_server.start(SOURCE.replace("+ 1000", ""), "sleeps", 0.3)
    while stored.state not in TERMINAL:
        parked = len(stored.conditions)
        await until(partial(has_changed, stored, parked))
        if stored.state not in TERMINAL:
            parking_server.dispatch(stored)
    assert stored.output == "after"
    assert stored.conditions
    assert stored.types().count("TASK_COMPLETED") == 5


async def test_a_server_that_cannot_park_keeps_the_execution_here(
    server: FakeServer, workers: Workers
) -> None:
    await workers.start(park_after_s=0)
    stored = server.start(SOURCE.replace("+ 1000", ""), "sleeps", 0.2)
    await until(lambda: stored.state in TERMINAL)
    assert (stored.conditions, stored.releases) == ([], [])


async def test_a_transient_execution_is_not_parked(
    parking_server: FakeServer, workers: Workers
) -> None:
    await workers.start(park_after_s=0)
    stored = parking_server.start(SOURCE, "transient", 0.2, transient=True)
    await until(lambda: stored.state in TERMINAL)
    assert stored.conditions == []


async def test_a_refused_condition_releases_the_execution(
    parking_server: FakeServer, workers: Workers
) -> None:
    parking_server.refuses_parking = True
    await workers.start(park_after_s=0.05)
    stored = parking_server.start(SOURCE, "sleeps", 3600)
    await until(lambda: len(stored.releases) >= 2)
    assert stored.conditions == []


@pytest.fixture
def calling_server(parking_server: FakeServer) -> FakeServer:
    """Server on which nested runs start and never end."""

    async def never_answer(request: web.Request) -> None:
        if request.path.endswith("/run/sync"):
            await asyncio.Event().wait()

    parking_server.faults.append(never_answer)
    parking_server.run_answers = [
        {"execution_id": f"nested-{n}", "state": "CREATED"} for n in range(8)
    ]
    return parking_server


async def test_the_only_slot_waits_for_calls_it_is_parked_at_once(
    calling_server: FakeServer, workers: Workers
) -> None:
    await workers.start(park_after_s=3600, max_concurrent_executions=1)
    stored = calling_server.start(SOURCE, "calls")
    await until(lambda: stored.conditions)
    [condition] = stored.conditions
    assert condition == {"wake_at": None, "wake_on": ["nested-0", "nested-1"]}


async def test_free_slots_are_left_it_is_parked_when_the_last_one_is_taken(
    calling_server: FakeServer, workers: Workers, tmp_path: Path
) -> None:
    await workers.start(park_after_s=3600, max_concurrent_executions=3)
    waiting = [calling_server.start(SOURCE, "calls") for _ in range(2)]
    await until(lambda: len(nested_runs(calling_server)) == 4)
    await asyncio.sleep(0.5)
    assert [stored.conditions for stored in waiting] == [[], []]
    gate = tmp_path / "gate"
    working = calling_server.start(SOURCE, "works_and_calls", str(gate))
    await until(lambda: all(stored.conditions for stored in waiting))
    assert working.conditions == []
    gate.touch()
    await asyncio.sleep(0.5)
    assert working.conditions == []


async def test_a_task_ends_while_a_call_lasts_on_a_full_worker_it_is_parked(
    calling_server: FakeServer, workers: Workers, tmp_path: Path
) -> None:
    await workers.start(park_after_s=3600, max_concurrent_executions=1)
    gate = tmp_path / "gate"
    stored = calling_server.start(SOURCE, "works_and_calls", str(gate))
    await until(lambda: nested_runs(calling_server))
    await asyncio.sleep(0.5)
    assert stored.conditions == []
    gate.touch()
    await until(lambda: stored.conditions)


async def test_a_drain_begins_executions_that_only_wait_are_parked_at_once(
    calling_server: FakeServer, workers: Workers
) -> None:
    await workers.start(park_after_s=3600, drain_timeout_s=3600)
    stored = calling_server.start(SOURCE, "calls")
    await until(lambda: len(nested_runs(calling_server)) == 2)
    await workers.stop("w1")
    assert len(stored.conditions) == 1


def nested_runs(server: FakeServer) -> list[str]:
    return [path for _, path in server.requests if path.endswith("/run/sync")]
