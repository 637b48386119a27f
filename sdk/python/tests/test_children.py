"""Workers with children: what a workflow does to its process harms no other execution."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import cast

import pytest

from conftest import HANG_S, Workers, until
from server_fake import TERMINAL, FakeServer, StoredExecution
from windlass.worker import _child_pool, _remote_run
from windlass.worker._child_process import ChildProcess
from windlass.worker._frames import FrameDecoder, FrameKind

SOURCE = """
import asyncio, ctypes, os, signal, sys, threading, time
from windlass import ExecutionContext, task, workflow
from windlass.worker import _frames

HERE = {here!r}

def is_there(name):
    return os.path.exists(os.path.join(HERE, name))

def note(name):
    with open(os.path.join(HERE, "ledger"), "a") as ledger:
        ledger.write(name + "\\n")

@task
async def gate(name: str) -> int:
    note(f"{{name}} {{os.getpid()}}")
    while not is_there(name):
        await asyncio.sleep(0.01)
    return os.getpid()

@workflow
async def waits(ctx: ExecutionContext[str]):
    return await gate(ctx.input)

@task
async def recorded() -> str:
    return "recorded"

@workflow
async def ends_its_process(ctx: ExecutionContext[str]):
    await recorded()
    if is_there("spared"):
        return os.getpid()
    note("ending")
    match ctx.input:
        case "exits":
            os._exit(3)
        case "is killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "crashes":
            ctypes.string_at(0)
        case "is killed with its group":
            os.killpg(0, signal.SIGKILL)
        case "sends an invalid frame":
            for descriptor in range(3, 64):
                try:
                    os.write(descriptor, b"\\xff" * 16)
                except OSError:
                    pass
            await asyncio.sleep(60)

@workflow
async def blocks(ctx: ExecutionContext[str]):
    note(f"blocks {{os.getpid()}}")
    while not is_there(ctx.input):
        time.sleep(0.01)
    return os.getpid()

@workflow
async def ignores_cancel(ctx: ExecutionContext[str]):
    note("ignores")
    while not is_there("never"):
        try:
            await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            pass

@task
async def forks() -> int:
    child = os.fork()
    if child == 0:
        return -1
    os.waitpid(child, 0)
    return os.getpid()

@workflow
async def forks_in_a_task(ctx: ExecutionContext):
    return await forks() > 0

@workflow
async def stops_its_loop(ctx: ExecutionContext):
    loop = asyncio.get_running_loop()
    try:
        loop.close()
    except RuntimeError:
        pass
    loop.stop()
    await asyncio.sleep(0)
    return await recorded()

@workflow
async def leaves_threads(ctx: ExecutionContext):
    threading.Thread(target=time.sleep, args=(3600,)).start()
    return await recorded()

@workflow
async def pid(ctx: ExecutionContext):
    return os.getpid()

@workflow
async def uses_memory(ctx: ExecutionContext[int]):
    block = bytearray(ctx.input * 2**20)
    note("used")
    while not is_there("memory"):
        await asyncio.sleep(0.01)
    return len(block) > 0

def memory():
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as file:
        for line in maps:
            area, rights = line.split()[:2]
            first, last = (int(end, 16) for end in area.split("-"))
            if rights.startswith("rw") and "[v" not in line:
                file.seek(first)
                try:
                    yield file.read(last - first)
                except OSError:
                    continue

@workflow
async def spies(ctx: ExecutionContext[list[str]]):
    # Reversed, so that this search does not find itself.
    found = set()
    for backwards in ctx.input:
        begin, rest = backwards[-8:][::-1].encode(), backwards[-24:-8][::-1].encode()
        for text in memory():
            at = text.find(begin)
            while at >= 0:
                if text[at + 8 : at + 24] == rest:
                    found.add(backwards[:4])
                at = text.find(begin, at + 1)
    files = sorted(os.readlink(f"/proc/self/fd/{{n}}") for n in os.listdir("/proc/self/fd")
                   if os.path.exists(f"/proc/self/fd/{{n}}"))
    environment = open("/proc/self/environ").read()
    return {{
        "found": sorted(found),
        "sockets": sum("socket" in file for file in files),
        "environment": [name for name in ("HIDDEN", "SHOWN_A") if name in environment],
        "os.environ": [name for name in ("HIDDEN", "SHOWN_A") if name in os.environ],
        "path": "PATH" in os.environ,
    }}
"""


@pytest.fixture
def source(tmp_path: Path) -> str:
    return SOURCE.format(here=str(tmp_path))


@pytest.fixture
def children() -> int:
    return 1


@pytest.fixture(autouse=True)
async def end_quickly(tmp_path: Path) -> AsyncIterator[None]:
    yield
    for name in ("never", "gate", "memory", "spared"):
        (tmp_path / name).touch()


def ledger(folder: Path) -> list[str]:
    file = folder / "ledger"
    return file.read_text().splitlines() if file.exists() else []


async def ended(stored: StoredExecution) -> StoredExecution:
    await until(lambda: stored.state in TERMINAL)
    return stored


async def run(server: FakeServer, source: str, name: str, input: object = None) -> StoredExecution:
    return await ended(server.start(source, name, input))


ENDS = ["exits", "is killed", "crashes", "is killed with its group", "sends an invalid frame"]


@pytest.mark.parametrize("how", ENDS)
async def test_ended_child_releases_its_executions_as_crashed(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path, how: str
) -> None:
    await workers.start()
    others = [server.start(source, "waits", "gate") for _ in range(3)]
    await until(lambda: len(ledger(tmp_path)) == 3)
    culprit = server.start(source, "ends_its_process", how)
    everything = [*others, culprit]
    await until(lambda: all(stored.crashes == 1 for stored in everything))
    # What was recorded before the end had left the process.
    assert "TASK_COMPLETED" in culprit.types()
    assert all(stored.state == "SCHEDULED" for stored in everything)
    (tmp_path / "gate").touch()
    (tmp_path / "spared").touch()
    for stored in everything:
        server.dispatch(stored)
        await ended(stored)
    # After a crash, each runs in a child of its own.
    assert len({stored.output for stored in everything}) == len(everything)
    assert (await run(server, source, "pid")).state == "COMPLETED"


async def test_cancel_frame_after_the_death_of_the_child_is_not_confirmed(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "ends_its_process", "exits")
    await until(lambda: stored.crashes == 1)
    await until(lambda: stored.releases)
    # The server has handed it over to the same worker, whose dispatch follows.
    stored.state, stored.worker = "CANCELLING", "w1"
    before = len(server.requests)
    server.send_cancel(stored, stored.generation - 1)
    server.ping()
    await until(lambda: server.pongs)
    assert [path for _, path in server.requests[before:]] == ["/workers/w1/pong"]


async def test_blocked_child_delays_neither_pongs_nor_other_children(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start(children=2)
    blocked = server.start(source, "blocks", "gate")
    await until(lambda: ledger(tmp_path))
    await until(lambda: blocked.types()[-1] == "WORKFLOW_STARTED")
    for count in range(1, 4):
        server.ping()
        await until(partial(has_length, server.pongs, count))
        assert server.pongs[-1]["healthy"]
        assert (await run(server, source, "pid")).state == "COMPLETED"
    assert blocked.state == "RUNNING"
    (tmp_path / "gate").touch()
    await ended(blocked)


async def test_forked_copy_records_nothing(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = await run(server, source, "forks_in_a_task")
    assert stored.output is True
    assert stored.types().count("TASK_COMPLETED") == 1


@pytest.mark.parametrize("name", ["stops_its_loop", "leaves_threads"])
async def test_child_survives(server: FakeServer, workers: Workers, source: str, name: str) -> None:
    await workers.start()
    pid = (await run(server, source, "pid")).output
    assert (await run(server, source, name)).output == "recorded"
    assert (await run(server, source, "pid")).output == pid


@pytest.mark.parametrize(
    ("line", "type"),
    [("raise ValueError('no')", "ValueError"), ("import sys; sys.exit(0)", "ImportError")],
)
async def test_source_that_does_not_import_fails_with_a_traceback(
    server: FakeServer, workers: Workers, source: str, line: str, type: str
) -> None:
    await workers.start()
    other = await run(server, source, "pid")
    failed = await run(server, f"{line}\n{source}", "pid")
    assert (failed.state, failed.output["type"]) == ("FAILED", type)
    assert 'pid version 1>", line 1' in str(failed.output)
    assert (await run(server, source, "pid")).output == other.output


async def test_source_that_ends_the_process_at_import_is_released_as_crashed(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(f"import os; os._exit(0)\n{source}", "pid")
    await until(lambda: stored.crashes)
    assert (await run(server, source, "pid")).state == "COMPLETED"


async def test_runner_subprocess_runs_in_a_child_of_its_own(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    shared = [(await run(server, source, "pid")).output for _ in range(2)]
    alone = [await ended(server.start(source, "pid", runner="subprocess")) for _ in range(2)]
    assert len(set(shared)) == 1
    assert len({*shared, *(stored.output for stored in alone)}) == 3
    for stored in alone:
        await until(partial(has_ended, stored.output))


async def test_execution_that_crashed_on_another_worker_runs_alone(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    shared = await run(server, source, "pid")
    other = server.start(source, "ends_its_process", "exits")
    await until(lambda: other.crashes)
    await workers.stop("w1")
    await workers.start("w2")
    pids = []
    for crashes in (1, 0):
        stored = server.start(source, "pid")
        stored.crashes = crashes
        pids.append((await ended(stored)).output)
    assert len({shared.output, *pids}) == 3


async def test_child_is_replaced_after_its_number_of_executions(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start(max_executions_per_child=2)
    pids = [(await run(server, source, "pid")).output for _ in range(4)]
    assert pids[0] == pids[1] != pids[2] == pids[3]
    await until(lambda: not is_alive(pids[0]))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_child_above_its_memory_is_replaced_and_above_twice_of_it_killed(
    server: FakeServer,
    workers: Workers,
    source: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_child_pool, "CHECK_INTERVAL_S", 0.05)
    await workers.start(max_child_memory_bytes=200 * 2**20)
    pid = (await run(server, source, "pid")).output
    stored = server.start(source, "uses_memory", 190)
    await until(lambda: ledger(tmp_path))
    async with asyncio.timeout(HANG_S):
        while (await run(server, source, "pid")).output == pid:
            await asyncio.sleep(0.05)
    (tmp_path / "memory").touch()
    assert (await ended(stored)).output is True
    await until(lambda: not is_alive(pid))
    (tmp_path / "memory").unlink()
    greedy = server.start(source, "uses_memory", 500)
    await until(lambda: greedy.crashes)


async def test_ignored_cancellation_ends_as_cancelled(
    server: FakeServer,
    workers: Workers,
    source: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_remote_run, "CANCEL_GRACE_S", 0.2)
    monkeypatch.setattr(_remote_run, "BLOCKED_S", 0.1)
    monkeypatch.setattr(_child_pool, "CHECK_INTERVAL_S", 0.05)
    await workers.start()
    pid = (await run(server, source, "pid")).output
    for name in ("ignores_cancel", "blocks"):
        other = server.start(source, "waits", "gate")
        await until(lambda: ledger(tmp_path))
        stored = server.start(source, name, "never")
        await until(partial(has_lines, tmp_path, 2))
        (tmp_path / "ledger").unlink()
        server.cancel(stored)
        await ended(stored)
        assert stored.types()[-1] == "WORKFLOW_CANCELLED"
        assert stored.events[-1]["value"]["reason"] == "cancel_ignored"
        # Another child takes the place of the one in which the code still runs.
        assert (await run(server, source, "pid")).output != pid
        assert other.crashes == 0


async def test_cancel_that_is_repeated_does_not_extend_the_grace(
    server: FakeServer,
    workers: Workers,
    source: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_remote_run, "CANCEL_GRACE_S", 1)
    await workers.start()
    stored = server.start(source, "ignores_cancel", "never")
    await until(lambda: ledger(tmp_path))
    async with asyncio.timeout(HANG_S):
        while stored.state != "CANCELLED":
            server.cancel(stored)
            await asyncio.sleep(0.05)
    assert stored.events[-1]["value"]["reason"] == "cancel_ignored"


async def test_child_with_code_of_an_ended_execution_gets_no_more_executions(
    server: FakeServer,
    workers: Workers,
    source: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_remote_run, "ABORT_GRACE_S", 0.1)
    await workers.start()
    pid = (await run(server, source, "pid")).output
    stored = server.start(source, "ignores_cancel")
    await until(lambda: ledger(tmp_path))
    server.requeue(stored)
    server.dispatch(stored)
    async with asyncio.timeout(HANG_S):
        while (await run(server, source, "pid")).output == pid:
            await asyncio.sleep(0.05)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_children_hold_no_credential(
    server: FakeServer, workers: Workers, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIDDEN", "x")
    monkeypatch.setenv("SHOWN_A", "x")
    await workers.start(pass_env=["SHOWN_*"])
    # Backwards, so that the search does not find what it searches for.
    credentials = [server.bootstrap_token + "-of-this-test-run", server.tokens["w1"]]
    stored = await run(server, source, "spies", [text[::-1] for text in credentials])
    assert stored.output == {
        "found": [],
        # The connection to the worker, and the pair with which an event loop wakes itself.
        "sockets": 3,
        "environment": ["SHOWN_A"],
        "os.environ": ["SHOWN_A"],
        "path": True,
    }


LOGS = """
import logging
from windlass import ExecutionContext, task, workflow

@task
async def speaks():
    logging.getLogger("mine").warning("from a task")

@workflow
async def logs(ctx: ExecutionContext):
    await speaks()
    try:
        raise ValueError("no")
    except ValueError:
        logging.getLogger("mine").exception("from the body")
"""


async def test_json_lines_of_children_name_execution_and_task(
    server: FakeServer, workers: Workers, capfd: pytest.CaptureFixture[str]
) -> None:
    await workers.start(log_format="json")
    stored = await run(server, LOGS, "logs")
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    task, body = [line for line in lines if line["logger"] == "mine"]
    assert (task["level"], task["message"]) == ("warning", "from a task")
    assert task["execution_id"] == body["execution_id"] == stored.execution_id
    assert task["task_id"].startswith("speaks_")
    assert "task_id" not in body
    assert "ValueError: no" in body["exception"]


async def test_lost_zygote_is_replaced(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start()
    stored = server.start(source, "waits", "gate")
    await until(lambda: ledger(tmp_path))
    child = int(ledger(tmp_path)[0].split()[1])
    os.kill(parent_of(child), signal.SIGKILL)
    await until(lambda: stored.crashes)
    await until(lambda: not is_alive(child))
    assert (await run(server, source, "pid")).state == "COMPLETED"


async def test_children_end_with_their_worker(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start(children=2)
    server.start(source, "blocks", "never")
    server.start(source, "waits", "never")
    await until(lambda: len(ledger(tmp_path)) == 2)
    pids = [int(line.split()[1]) for line in ledger(tmp_path)]
    await workers.kill("w1")
    await until(lambda: not any(is_alive(pid) for pid in pids))


class NoPool:
    def retire_if_used_up(self, child: ChildProcess) -> None: ...


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
async def test_child_is_closed_while_its_connection_is_set_up_leaves_no_open_socket(
    turns: int,
) -> None:
    child = ChildProcess(1, NoPool(), is_shared=True)
    other = child.connect()
    for _ in range(turns):
        await asyncio.sleep(0)
    child.close()
    for _ in range(3):
        await asyncio.sleep(0)
    other.setblocking(False)
    assert other.recv(1) == b""
    other.close()


class OtherTransport:
    """A transport of an event loop like uvloop: no subclass of those of asyncio."""

    def __init__(self) -> None:
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return False


async def test_transport_of_another_event_loop_sends_all_frames() -> None:
    child = ChildProcess(1, NoPool(), is_shared=True)
    transport = OtherTransport()
    child.send(FrameKind.PROBE)
    child.connection_made(cast("asyncio.BaseTransport", transport))
    child.send(FrameKind.CANCEL, 7)
    frames = [(frame.kind, frame.run) for frame in FrameDecoder(1024).feed(transport.written)]
    assert frames == [(FrameKind.PROBE, 0), (FrameKind.CANCEL, 7)]


async def test_many_executions_share_two_children(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start(children=2, max_concurrent_executions=0)
    stored: Sequence[StoredExecution] = [server.start(source, "pid") for _ in range(40)]
    await until(lambda: all(one.state in TERMINAL for one in stored))
    assert len({one.output for one in stored}) == 2


def has_length(items: Sequence[object], length: int) -> bool:
    return len(items) == length


def has_lines(folder: Path, count: int) -> bool:
    return len(ledger(folder)) == count


def has_ended(pid: int) -> bool:
    return not is_alive(pid)


def is_alive(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
