"""Fixtures: a fake server and workers connected to it."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from crash_cuts import total_cuts
from effects import effects
from server_fake import BOOTSTRAP, FakeServer, serve
from windlass.worker import Settings, Worker
from worker_process import HANG_S as HANG_S
from worker_process import Start, start_worker

# Above HANG_S: a worker that does not run for a minute neither reconnects nor repeats a request.
PATIENT = {"stream_idle_s": 10 * HANG_S, "request_timeout_s": 10 * HANG_S}


@pytest.fixture(autouse=True)
def _no_effects() -> None:
    effects.clear()


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with serve(FakeServer()) as running:
        yield running


class Workers:
    """Workers of one test."""

    def __init__(self, server: FakeServer, children: int) -> None:
        self._server = server
        self._children = children
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._workers: dict[str, Worker] = {}

    async def start(self, name: str = "w1", **settings: Any) -> Worker:
        """Starts a worker and waits until it is connected."""
        settings = {"children": self._children, **PATIENT, **settings}
        worker = Worker(
            Settings(name=name, server_url=self._server.url, bootstrap_token=BOOTSTRAP, **settings)
        )
        self._workers[name] = worker
        self._tasks[name] = asyncio.create_task(worker.run())
        await until(lambda: self._server.connected(name) or self._tasks[name].done())
        return worker

    async def stop(self, name: str) -> None:
        """Stops a worker as SIGTERM does."""
        self._workers[name].stop()
        await asyncio.wait_for(self._tasks.pop(name), HANG_S)

    async def kill(self, name: str) -> None:
        """Cancels a worker without a shutdown, as if its process had been killed."""
        task = self._tasks.pop(name)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def close(self) -> None:
        for name in list(self._tasks):
            await self.kill(name)


@pytest.fixture(params=[0, 1], ids=["thread", "children"])
def children(request: pytest.FixtureRequest) -> int:
    """Number of children of the test's workers; 0: user code runs in a thread."""
    number: int = request.param
    return number


@pytest.fixture
async def workers(server: FakeServer, children: int) -> AsyncIterator[Workers]:
    running = Workers(server, children)
    yield running
    await running.close()


@pytest.fixture
async def processes() -> AsyncIterator[list[Process]]:
    """Processes that a test or another fixture has started. They end with the test in any case."""
    running: list[Process] = []
    yield running
    for process in running:
        with suppress(ProcessLookupError):
            process.kill()
    for process in running:
        await process.wait()


@pytest.fixture
def start(processes: list[Process]) -> Start:
    """Starts worker processes; its arguments are those of the command line."""
    return partial(start_worker, processes)


async def until(condition: Callable[[], Any], timeout_s: float = HANG_S) -> Any:
    """Waits until the condition is true and returns its value."""
    async with asyncio.timeout(timeout_s):
        while not (result := condition()):
            await asyncio.sleep(0.005)
        return result


async def next_pong(server: FakeServer) -> dict[str, Any]:
    """Requests a pong and returns it.

    Unless an earlier ping was unanswered, the worker has then read the frames sent before.
    """
    count = len(server.pongs)

    def has_come() -> bool:
        # Again each time: a ping that comes before the answer to a pong is dropped.
        server.ping()
        return len(server.pongs) > count

    await until(has_come)
    pong: dict[str, Any] = server.pongs[-1]
    return pong


async def until_idle(server: FakeServer) -> None:
    """Waits until the worker reports no execution; it learns of an end after the server has it."""
    async with asyncio.timeout(HANG_S):
        while (await next_pong(server))["metrics"]["flux.running_executions"]:
            pass


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Shows how much the crash tests of the examples have tried."""
    if cuts := total_cuts():
        terminalreporter.write_line(f"examples: crashed at {cuts} places")
