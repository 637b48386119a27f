"""Measures how long a worker takes to answer pings while its executions compute. Usage:

    python bench/pongs.py

The server is the tests' fake server in this process; the worker is a process of its own. Prints one
line of JSON for each figure: `{"row": …, "figure": …, "value": …}`.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from server_fake import BOOTSTRAP, TERMINAL, FakeServer, serve

PING_INTERVAL_S = 0.05
LIMIT_S = 120

SOURCE = """
import time
from windlass import ExecutionContext, task, workflow

@task
async def count(rows: list) -> int:
    return len(rows)

@workflow
async def compute(ctx: ExecutionContext) -> int:
    until, turns = time.thread_time() + 1, 0
    while time.thread_time() < until:
        turns += 1
    return turns

@workflow
async def large(ctx: ExecutionContext) -> int:
    row = {"name": "Ada Lovelace", "tags": ["a", "b"], "price": 12.5, "ok": True, "note": None}
    return await count([{"id": n, **row} for n in range(100_000)])
"""


class PingingServer(FakeServer):
    """Fake server that notes how long each pong takes."""

    def __init__(self) -> None:
        super().__init__()
        self.sent_at: float | None = None
        self.delays_s: list[float] = []

    async def ping_regularly(self) -> None:
        """Sends the next ping when the last one is answered."""
        while True:
            if self.sent_at is None:
                self.sent_at = time.perf_counter()
                self.ping()
            await asyncio.sleep(PING_INTERVAL_S)

    async def _pong(self, request: web.Request) -> web.Response:
        if self.sent_at is not None:
            self.delays_s.append(time.perf_counter() - self.sent_at)
            self.sent_at = None
        return await super()._pong(request)


async def main() -> None:
    for children in (0, 2):
        async with running_worker(children) as server:
            for name, executions, row in (
                ("compute", 8, "eight executions of 1 s of pure Python"),
                ("large", 1, "a task with 10 MB of arguments"),
            ):
                seconds, slowest_s = await measure(server, name, executions)
                report(f"{row}, {children} children", "s", seconds)
                report(f"{row}, {children} children", "slowest pong, ms", slowest_s * 1e3)


def report(row: str, figure: str, value: float) -> None:
    print(json.dumps({"row": row, "figure": figure, "value": round(value, 2)}), flush=True)


async def measure(server: PingingServer, name: str, executions: int) -> tuple[float, float]:
    """Returns the seconds until all executions have ended, and those of the slowest pong."""
    server.delays_s.clear()
    pinging = asyncio.create_task(server.ping_regularly())
    started_at = time.perf_counter()
    started = [server.start(SOURCE, name) for _ in range(executions)]
    async with asyncio.timeout(LIMIT_S):
        while any(stored.state not in TERMINAL for stored in started) or server.sent_at is not None:
            await asyncio.sleep(0.01)
    elapsed_s = time.perf_counter() - started_at
    pinging.cancel()
    assert {stored.state for stored in started} == {"COMPLETED"}, started[0].output
    return elapsed_s, max(server.delays_s)


@asynccontextmanager
async def running_worker(children: int) -> AsyncIterator[PingingServer]:
    with tempfile.TemporaryDirectory() as folder:
        async with serve(PingingServer()) as server:
            command = [sys.executable, "-P", "-m", "windlass.worker", "start"]
            options = {
                "--server-url": server.url,
                "--name": "bench",
                "--bootstrap-token": BOOTSTRAP,
                "--max-concurrent": "16",
                "--children": str(children),
                "--log-level": "error",
            }
            worker = subprocess.Popen(
                [*command, *(text for pair in options.items() for text in pair)],
                cwd=folder,
                env={**os.environ, "PYTHONPYCACHEPREFIX": folder},
            )
            try:
                async with asyncio.timeout(LIMIT_S):
                    while not server.connected("bench"):
                        await asyncio.sleep(0.05)
                yield server
            finally:
                worker.terminate()
                worker.wait(LIMIT_S)


asyncio.run(main())
