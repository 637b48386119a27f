"""Parking by the worker: the release with its condition, and the run that continues."""

from __future__ import annotations

from functools import partial

import pytest

from conftest import Workers, until
from server_fake import TERMINAL, FakeServer, StoredExecution

SOURCE = """
from windlass import ExecutionContext, parallel, sleep, task, workflow

@task
async def step(name):
    return name

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
    assert condition["wake_at"].startswith("2026-01-02T04:04:0")
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
