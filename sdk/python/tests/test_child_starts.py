"""Children that cannot be started, and frames that their threads send."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any, cast

import pytest

from conftest import Workers, until
from server_fake import TERMINAL, FakeServer, StoredExecution
from windlass.worker._child import Child
from windlass.worker._frames import FrameKind

SOURCE = """
import os
from windlass import ExecutionContext, workflow

@workflow
async def pid(ctx: ExecutionContext[None]):
    return os.getpid()
"""

FEW_FORKS = """
import os
from pathlib import Path

mark = Path(__file__).with_name("no forks")
fork = os.fork

def limited():
    if mark.exists():
        raise BlockingIOError("too many processes")
    return fork()

os.fork = limited
"""


async def ended(stored: StoredExecution) -> StoredExecution:
    await until(lambda: stored.state in TERMINAL)
    return stored


@pytest.mark.parametrize("children", [1])
async def test_child_cannot_be_started_costs_no_attempt_and_no_other_child(
    server: FakeServer, workers: Workers, tmp_path: Path
) -> None:
    (tmp_path / "few_forks.py").write_text(FEW_FORKS)
    mark = tmp_path / "no forks"
    await workers.start(preload=["few_forks"], path=[str(tmp_path)], children=1)
    first = await ended(server.start(SOURCE, "pid"))
    mark.touch()
    alone = server.start(SOURCE, "pid", runner="subprocess")
    await until(lambda: alone.releases)
    assert alone.crashes == 0
    assert (await ended(server.start(SOURCE, "pid"))).output == first.output
    mark.unlink()
    server.dispatch(alone)
    assert (await ended(alone)).state == "COMPLETED"


async def test_another_thread_sends_a_frame_leaves_in_the_loop() -> None:
    threads: list[int] = []

    class Transport:
        def write(self, data: bytes) -> None:
            threads.append(threading.get_ident())

    settings = {"task_processes": 1, "log_level": None, "log_format": "text"}
    child = Child(asyncio.get_running_loop(), {**settings, "interceptors": []})
    child._transport = cast("Any", Transport())
    await asyncio.to_thread(child.send, FrameKind.ENTRY)
    child.send(FrameKind.ENTRY)
    await until(lambda: len(threads) == 2)
    assert set(threads) == {threading.get_ident()}
