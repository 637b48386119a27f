"""`--once ID`: one execution in the main thread of a process that a debugger can stop."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import signal
import sys
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest

from conftest import HANG_S, until
from server_fake import BOOTSTRAP, TERMINAL, FakeServer, StoredExecution
from windlass.worker._bootstrap import TOKEN_VARIABLE

SOURCE = """
import asyncio, os, threading
from windlass import ExecutionContext, sleep, task, workflow

@task
async def where() -> list:
    return [threading.current_thread() is threading.main_thread(), os.getpid(), __file__]

@workflow
async def tells(ctx: ExecutionContext[str]):
    return await where()

@workflow
async def stops_here(ctx: ExecutionContext[str]):
    answer = ctx.input * 2
    breakpoint()
    return answer

@workflow
async def waits(ctx: ExecutionContext):
    await asyncio.sleep(3600)

@workflow
async def fails(ctx: ExecutionContext):
    raise ValueError("no")
"""


@pytest.fixture
def stored(server: FakeServer) -> StoredExecution:
    """Execution that waits in the queue."""
    workflow = {"id": uuid4().hex, "namespace": "default", "name": "tells", "version": 1}
    workflow["source"] = base64.b64encode(SOURCE.encode()).decode()
    waiting = StoredExecution(uuid4().hex, workflow, '"x"')
    server.executions[waiting.execution_id] = waiting
    return waiting


async def start(
    server: FakeServer,
    processes: list[asyncio.subprocess.Process],
    *arguments: str,
    is_connected: bool = True,
) -> asyncio.subprocess.Process:
    command = [sys.executable, "-m", "windlass.worker", "start", "--server-url", server.url]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command,
        *("--name", "debugger", *arguments),
        stdin=pipe,
        stdout=pipe,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, TOKEN_VARIABLE: BOOTSTRAP},
    )
    processes.append(process)
    if is_connected:
        await until(lambda: server.connected("debugger") or process.returncode is not None)
    return process


async def end(process: asyncio.subprocess.Process, input: str = "") -> tuple[int | None, str]:
    output, _ = await asyncio.wait_for(process.communicate(input.encode()), HANG_S)
    return process.returncode, output.decode()


def has_pongs(server: FakeServer, count: int) -> bool:
    return len(server.pongs) >= count


async def test_only_the_execution_runs_in_the_main_thread_and_the_process_ends(
    server: FakeServer, stored: StoredExecution, processes: list[asyncio.subprocess.Process]
) -> None:
    process = await start(server, processes, "--once", stored.execution_id)
    other = server.start(SOURCE, "tells", "y")
    await until(lambda: other.releases)
    server.dispatch(stored)
    await until(lambda: stored.state in TERMINAL)
    code, text = await end(process)
    assert (code, stored.state) == (0, "COMPLETED")
    assert stored.output[:2] == [True, process.pid]
    assert f"execution {stored.execution_id} is completed" in text
    assert (other.state, other.crashes) == ("SCHEDULED", 0)
    assert "WORKFLOW_STARTED" not in other.types()
    assert [record["max_concurrent_executions"] for record in server.registrations] == [1]


async def test_breakpoint_reads_the_terminal_while_pings_are_answered(
    server: FakeServer, stored: StoredExecution, processes: list[asyncio.subprocess.Process]
) -> None:
    stored.workflow["name"] = "stops_here"
    process = await start(server, processes, "--once", stored.execution_id)
    server.dispatch(stored)
    await until(lambda: "WORKFLOW_STARTED" in stored.types())
    for count in range(1, 4):
        server.ping()
        await until(partial(has_pongs, server, count))
    assert stored.state == "RUNNING"
    code, text = await end(process, "p 'answer is', answer\nc\n")
    assert (code, stored.output) == (0, "xx")
    assert "('answer is', 'xx')" in text


@pytest.mark.parametrize("change", ["", "\n# another line"], ids=["same", "changed"])
async def test_source_file_is_used_if_its_text_is_that_of_the_execution(
    server: FakeServer,
    stored: StoredExecution,
    processes: list[asyncio.subprocess.Process],
    tmp_path: Path,
    change: str,
) -> None:
    file = tmp_path / "orders.py"
    file.write_text(SOURCE + change)
    process = await start(server, processes, "--once", stored.execution_id, "--source", str(file))
    server.dispatch(stored)
    code, text = await end(process)
    if change:
        assert (code, len(stored.releases)) == (2, 1)
        assert f"{file} differs from version 1 of default/tells" in text
        assert "WORKFLOW_STARTED" not in stored.types()
    else:
        assert (code, stored.output) == (0, [True, process.pid, str(file)])


async def test_failed_workflow_has_settled(
    server: FakeServer, stored: StoredExecution, processes: list[asyncio.subprocess.Process]
) -> None:
    stored.workflow["name"] = "fails"
    process = await start(server, processes, "--once", stored.execution_id)
    server.dispatch(stored)
    code, text = await end(process)
    assert (code, stored.state) == (0, "FAILED")
    assert "is failed" in text


async def test_interrupt_releases_the_execution(
    server: FakeServer, stored: StoredExecution, processes: list[asyncio.subprocess.Process]
) -> None:
    stored.workflow["name"] = "waits"
    process = await start(server, processes, "--once", stored.execution_id)
    server.dispatch(stored)
    await until(lambda: "WORKFLOW_STARTED" in stored.types())
    process.send_signal(signal.SIGINT)
    code, _ = await end(process)
    assert (code, stored.releases) == (1, ["1"])


async def test_execution_that_the_server_does_not_have_ends_the_worker(
    server: FakeServer, processes: list[asyncio.subprocess.Process]
) -> None:
    process = await start(server, processes, "--once", "0" * 32, is_connected=False)
    code, text = await end(process)
    assert code == 1
    assert f"the server has no execution {'0' * 32}" in text


@pytest.mark.parametrize("state", ["COMPLETED", "FAILED", "CANCELLED"])
async def test_execution_that_has_ended_ends_the_worker_and_says_so(
    server: FakeServer,
    stored: StoredExecution,
    processes: list[asyncio.subprocess.Process],
    state: str,
) -> None:
    stored.state = state
    process = await start(server, processes, "--once", stored.execution_id, is_connected=False)
    code, text = await end(process)
    assert code == 1
    assert f"execution {stored.execution_id} is {state}: it has ended" in text
    assert f"POST /executions/{stored.execution_id}/rerun" in text
    assert "WORKFLOW_STARTED" not in stored.types()


@pytest.mark.parametrize(
    ("state", "advice"),
    [
        ("CREATED", "/explain says why it is not assigned to this worker"),
        ("PAUSED", "waiting until it is resumed"),
        ("RUNNING", "another worker has it: waiting until that one ends"),
    ],
)
async def test_execution_that_is_not_assigned_yet_is_awaited_with_what_to_do(
    server: FakeServer,
    stored: StoredExecution,
    processes: list[asyncio.subprocess.Process],
    state: str,
    advice: str,
) -> None:
    stored.state = state
    process = await start(server, processes, "--once", stored.execution_id)
    assert process.stdout is not None
    text = ""
    while advice not in text:
        text += (await asyncio.wait_for(process.stdout.readline(), HANG_S)).decode()
    assert f"execution {stored.execution_id} is {state}" in text
    assert process.returncode is None
    stored.state = "SCHEDULED"
    server.dispatch(stored)
    code, _ = await end(process)
    assert (code, stored.state) == (0, "COMPLETED")


async def test_execution_that_ends_elsewhere_while_awaited_ends_the_worker(
    server: FakeServer, stored: StoredExecution, processes: list[asyncio.subprocess.Process]
) -> None:
    stored.state = "RUNNING"
    process = await start(server, processes, "--once", stored.execution_id)
    assert process.stdout is not None
    while b"is RUNNING" not in await asyncio.wait_for(process.stdout.readline(), HANG_S):
        pass
    stored.state = "CANCELLED"
    code, text = await end(process)
    assert code == 1
    assert f"execution {stored.execution_id} is CANCELLED: it has ended" in text


async def test_refused_registration_ends_the_worker(
    server: FakeServer, stored: StoredExecution, processes: list[asyncio.subprocess.Process]
) -> None:
    server.bootstrap_token = json.dumps("another")
    process = await start(server, processes, "--once", stored.execution_id, is_connected=False)
    code, text = await end(process)
    assert code == 1
    assert "refused by the server" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--once", "latest"], "'latest' is not the id of an execution"),
        (["--source", "orders.py"], "--source needs --once"),
    ],
)
async def test_misuse_ends_with_code_2_and_one_line(
    server: FakeServer,
    processes: list[asyncio.subprocess.Process],
    arguments: list[str],
    message: str,
) -> None:
    process = await start(server, processes, *arguments, is_connected=False)
    code, text = await end(process)
    assert (code, text.count("\n")) == (2, 1)
    assert message in text
