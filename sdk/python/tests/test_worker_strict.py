"""Tasks that begin only when all earlier records are stored: `durability="strict"`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from conftest import Workers, until
from server_fake import TERMINAL, FakeServer, StoredExecution

SOURCE = """
import os
from windlass import ExecutionContext, parallel, task, workflow

HERE = {folder!r}

def note(name):
    with open(os.path.join(HERE, "ledger"), "a") as ledger:
        ledger.write(name + "\\n")

@task
async def plain(name):
    note(name)

@task.with_options(durability="strict")
async def strict(name):
    note(name)

@task.with_options(durability="strict")
async def fails():
    note("fails")
    raise ValueError("no")

@workflow
async def one_strict(ctx: ExecutionContext):
    await plain("first")
    await strict("second")
    await plain("third")

@workflow
async def one_fails(ctx: ExecutionContext):
    try:
        await fails()
    except ValueError:
        await plain("after")

@workflow.with_options(durability="strict")
async def all_strict(ctx: ExecutionContext):
    for n in range(ctx.input):
        await plain(str(n))

@workflow.with_options(durability="strict")
async def branches(ctx: ExecutionContext):
    await parallel(*[plain(str(n)) for n in range(ctx.input)])

@workflow
async def ten(ctx: ExecutionContext):
    for n in range(10):
        await plain(str(n))
"""


@pytest.fixture
def source(tmp_path: Path) -> str:
    return SOURCE.format(folder=str(tmp_path))


@pytest.fixture(autouse=True)
def _delivers(server: FakeServer) -> None:
    server.delivers_s = 60.0


class Gate:
    """Holds the checkpoints of a server until the test lets one of them pass."""

    def __init__(self, server: FakeServer) -> None:
        self.passes = asyncio.Semaphore(0)
        server.faults.append(self._hold)

    async def _hold(self, request: web.Request) -> None:
        if "/checkpoint/" in request.path:
            await self.passes.acquire()


def ledger(folder: Path) -> list[str]:
    file = folder / "ledger"
    return file.read_text().splitlines() if file.exists() else []


def has_ended(stored: StoredExecution) -> bool:
    return stored.state in TERMINAL


def completed(stored: StoredExecution) -> int:
    return stored.types().count("TASK_COMPLETED")


async def held(server: FakeServer, number: int) -> None:
    """Waits for the checkpoint of this number, and some time for what must not follow it."""
    await until(lambda: sum("/checkpoint/" in path for _, path in server.requests) >= number)
    await asyncio.sleep(0.05)


async def test_strict_task_waits_for_earlier_records_and_the_next_for_its_own(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    gate = Gate(server)
    await workers.start()
    stored = server.start(source, "one_strict")
    await until(lambda: ledger(tmp_path))
    await held(server, 1)
    assert ledger(tmp_path) == ["first"]
    gate.passes.release()
    await until(lambda: len(stored.checkpoints) == 1)
    if completed(stored) == 0:
        # The first checkpoint was sent before the first task had ended.
        await held(server, 2)
        assert ledger(tmp_path) == ["first"]
        gate.passes.release()
    await until(lambda: ledger(tmp_path) == ["first", "second"])
    sent = len(stored.checkpoints) + 1
    await held(server, sent)
    assert ledger(tmp_path) == ["first", "second"]
    for _ in range(10):
        gate.passes.release()
    await until(lambda: has_ended(stored))
    assert ledger(tmp_path) == ["first", "second", "third"]
    assert stored.state == "COMPLETED"


async def test_strict_workflow_stores_each_step_before_the_next(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start()
    begun: list[int] = []

    async def compare(request: web.Request) -> None:
        if "/checkpoint/" in request.path:
            # All steps that have begun, but the one that this checkpoint reports.
            begun.append(len(ledger(tmp_path)) - completed(stored))

    stored = server.start(source, "all_strict", 5)
    server.faults.append(compare)
    await until(lambda: has_ended(stored))
    assert ledger(tmp_path) == ["0", "1", "2", "3", "4"]
    assert max(begun) <= 1
    assert len(stored.checkpoints) >= 5


async def test_failure_of_a_strict_task_is_stored_before_the_next_task(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    gate = Gate(server)
    await workers.start()
    stored = server.start(source, "one_fails")
    await held(server, 1)
    assert ledger(tmp_path) == []
    gate.passes.release()
    await until(lambda: ledger(tmp_path) == ["fails"])
    await held(server, 2)
    assert ledger(tmp_path) == ["fails"]
    for _ in range(10):
        gate.passes.release()
    await until(lambda: has_ended(stored))
    assert ledger(tmp_path) == ["fails", "after"]


async def test_strict_branches_end(server: FakeServer, workers: Workers, source: str) -> None:
    await workers.start()
    stored = server.start(source, "branches", 20)
    await until(lambda: has_ended(stored))
    assert stored.state == "COMPLETED"
    assert completed(stored) == 21


async def test_strict_task_of_an_execution_that_was_taken_back_does_not_begin(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    async def take_back(request: web.Request) -> None:
        if "/checkpoint/" in request.path and stored.generation == 1:
            server.requeue(stored)

    await workers.start()
    stored = server.start(source, "all_strict", 2)
    server.faults.append(take_back)
    await until(lambda: any("/claim/" in path for _, path in server.requests))
    await workers.stop("w1")
    assert ledger(tmp_path) == []


async def test_ten_short_steps_share_their_checkpoints(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    gate = Gate(server)
    await workers.start()
    stored = server.start(source, "ten")
    # The steps do not wait for the first checkpoint, which is held, and share the second.
    await until(lambda: len(ledger(tmp_path)) == 10)
    for _ in range(10):
        gate.passes.release()
    await until(lambda: has_ended(stored))
    first_two = [event for sent in stored.checkpoints[:2] for event in sent["events"]]
    assert sum(event["type"] == "TASK_COMPLETED" for event in first_two) >= 9
    assert completed(stored) == 10
