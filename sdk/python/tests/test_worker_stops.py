"""Shutdown of a worker, and user code that blocks it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from conftest import HANG_S, Workers, next_pong, until
from server_fake import BOOTSTRAP, TERMINAL, FakeServer, StoredExecution
from sources import SOURCE
from windlass.worker import _health
from worker_process import Start, WorkerProcess


@pytest.fixture
def source(tmp_path: Path) -> str:
    return SOURCE.format(gate=str(tmp_path))


async def test_draining_worker_finishes_its_executions_and_accepts_no_more(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    worker = await workers.start()
    stored = server.start(source, "gates", ["a"])
    await until(lambda: stored.types()[-1] == "TASK_STARTED")
    worker.stop()
    await until(lambda: server.pongs and not server.pongs[-1]["healthy"])
    late = server.start(source, "hello", "x")
    await until(lambda: late.releases)
    # Released before a claim, so without a claim generation.
    assert late.releases == [None]
    pongs = len(server.pongs)
    server.ping()
    await until(lambda: len(server.pongs) > pongs)
    assert not server.pongs[-1]["healthy"]
    (tmp_path / "a").touch()
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == ["a"]
    await workers.stop("w1")
    assert not server.connected("w1")


async def test_execution_beyond_the_drain_timeout_is_released_with_its_entries(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start(drain_timeout_s=0.05)
    stored = server.start(source, "gates", ["a", "never"])
    (tmp_path / "a").touch()
    await until(lambda: stored.types().count("TASK_STARTED") == 2)
    generation = str(stored.generation)
    await workers.stop("w1")
    assert stored.releases == [generation]
    assert stored.state == "SCHEDULED"
    assert stored.types().count("TASK_COMPLETED") == 1
    assert not {"WORKFLOW_CANCELLED", "WORKFLOW_FAILED"} & set(stored.types())


async def test_full_worker_releases_further_executions(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start(max_concurrent_executions=1)
    all_stored = [server.start(source, "gates", ["a"]) for _ in range(4)]
    await until(lambda: sum(bool(stored.releases) for stored in all_stored) == 2)
    (tmp_path / "a").touch()
    await until(lambda: sum(stored.state in TERMINAL for stored in all_stored) == 2)


async def test_code_that_ignores_cancellation_is_released(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start(drain_timeout_s=0.05)
    stored = server.start(source, "ignores_cancel")
    await until(lambda: stored.types()[-1] == "TASK_STARTED")
    await workers.stop("w1")
    assert stored.releases == ["1"]


async def test_blocking_code_does_not_delay_pongs(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path, children: int
) -> None:
    await workers.start()
    stored = server.start(source, "blocks", "gate")
    await until((tmp_path / "ledger").exists)
    for count in range(1, 6):
        server.ping()
        await until(partial(_has, server.pongs, count))
    assert stored.state not in TERMINAL
    (tmp_path / "gate").touch()
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == ("MainThread" if children else "windlass-user")


async def test_worker_with_a_blocked_loop_reports_itself_unhealthy(
    server: FakeServer,
    workers: Workers,
    source: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_health, "UNHEALTHY_LAG_S", 0.1)
    await workers.start()
    stored = server.start(source, "blocks", "gate")
    await until((tmp_path / "ledger").exists)
    async with asyncio.timeout(HANG_S):
        while (pong := await next_pong(server))["healthy"]:
            pass
    assert pong["metrics"]["flux.loop_lag_seconds"] >= 0.1
    (tmp_path / "gate").touch()
    await until(lambda: stored.state in TERMINAL)
    async with asyncio.timeout(HANG_S):
        while not (await next_pong(server))["healthy"]:
            pass


async def test_blocking_tasks_run_concurrently(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start()
    both = [server.start(source, "blocks_in_a_thread", "gate") for _ in range(2)]
    await until(lambda: all(s.types()[-1] == "TASK_STARTED" for s in both))
    (tmp_path / "gate").touch()
    await until(lambda: all(s.state in TERMINAL for s in both))
    assert all(stored.output.startswith("windlass-task") for stored in both)


async def test_system_exit_in_a_workflow_fails_only_its_execution(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    left = server.start(source, "exits")
    await until(lambda: left.state in TERMINAL)
    assert left.state == "FAILED"
    stored = server.start(source, "hello", "x")
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == "Hello, x"


def _has(pongs: Sequence[object], count: int) -> bool:
    return len(pongs) == count


def _is_running(stored: StoredExecution) -> bool:
    return stored.types()[-1].endswith("STARTED")


# Worker as a process


@pytest.fixture
async def process(server: FakeServer, start: Start) -> WorkerProcess:
    arguments = ["--server-url", server.url, "--name", "p1", "--label", "zone=a"]
    started = await start(
        *arguments, "--drain-timeout", "0.2", SVC_WORKERS__BOOTSTRAP_TOKEN=BOOTSTRAP
    )
    await until(lambda: server.connected("p1") and "connected" in started.text)
    return started


async def test_sigterm_drains_and_exits_with_0(
    server: FakeServer, process: WorkerProcess, source: str
) -> None:
    stored = server.start(source, "gates", ["never"])
    await until(lambda: stored.types()[-1] == "TASK_STARTED")
    process.process.send_signal(signal.SIGTERM)
    assert await process.ended() == 0
    assert stored.releases == ["1"]
    assert server.registrations[0]["labels"] == {"zone": "a"}
    assert f"connected to {server.url} as p1" in process.text


async def test_blocked_process_exits_after_a_signal(
    server: FakeServer, process: WorkerProcess, source: str
) -> None:
    for name in ("blocks_in_a_thread", "blocks"):
        stored = server.start(source, name, "never")
        await until(partial(_is_running, stored))
    process.process.send_signal(signal.SIGINT)
    assert await process.ended() == 0


async def test_second_signal_exits_without_draining(
    server: FakeServer, start: Start, source: str
) -> None:
    arguments = ["--server-url", server.url, "--name", "p2", "--bootstrap-token", BOOTSTRAP]
    process = await start(*arguments, "--drain-timeout", "3600")
    await until(lambda: server.connected("p2"))
    stored = server.start(source, "gates", ["never"])
    await until(lambda: stored.types()[-1] == "TASK_STARTED")
    process.process.send_signal(signal.SIGTERM)
    await until(lambda: "stopping" in process.text)
    process.process.send_signal(signal.SIGTERM)
    assert await process.ended() == 1
    assert stored.releases == []


async def test_process_without_a_server_retries_until_a_signal(start: Start) -> None:
    process = await start(
        "--server-url", "http://127.0.0.1:9", SVC_WORKERS__BOOTSTRAP_TOKEN=BOOTSTRAP
    )
    await until(lambda: "failed to register, retrying" in process.text)
    process.process.send_signal(signal.SIGTERM)
    assert await process.ended() == 0


async def test_process_with_a_wrong_token_exits_with_1(
    server: FakeServer, start: Start, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("wrong\n")
    process = await start("--bootstrap-token-file", str(token), SVC_WORKERS__SERVER_URL=server.url)
    assert await process.ended() == 1
    assert "refused by the server: 403" in process.text


async def test_invalid_command_line_exits_with_2(start: Start) -> None:
    process = await start(SVC_WORKERS__BOOTSTRAP_TOKEN="")
    assert await process.ended() == 2
    assert process.text.startswith("windlass worker: ")


PRYING = f"""
import os
import subprocess
import sys

from windlass import ExecutionContext, workflow

PRINT = "import os; print(dict(os.environ))"


@workflow
async def pries(context: ExecutionContext):
    child = subprocess.run([sys.executable, "-c", PRINT], capture_output=True, text=True)
    seen = str(dict(os.environ)) + child.stdout
    return ["PATH" in child.stdout, {BOOTSTRAP!r} in seen]
"""


@pytest.mark.usefixtures("process")
async def test_workflows_and_their_children_do_not_get_the_bootstrap_token(
    server: FakeServer,
) -> None:
    stored = server.start(PRYING, "pries")
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == [True, False]
