"""Features of tasks and workers against a running system with a worker.

`WINDLASS_URL` is its address, `WINDLASS_TOKEN_FILE` a file with its bootstrap token.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from windlass.client import AsyncClient, ExecutionPausedError
from windlass.codec import AesGcmCodec
from windlass.errors import PayloadCodecError

URL = os.environ["WINDLASS_URL"]
HANG_S = 60.0

SOURCE = """
import os
from pathlib import Path
from windlass import ExecutionContext, Retry, current, progress, task, workflow

@task.with_options(process=True, retry=Retry(attempts=2, delay=0))
def crashes_once(path: str) -> int:
    print("attempt", current().attempt)
    if not Path(path).exists():
        Path(path).touch()
        os._exit(9)
    return current().attempt

@task.with_options(process=True)
def process() -> int:
    return os.getpid()

@workflow
async def crashes(ctx: ExecutionContext[str]) -> list[bool | int]:
    return [await crashes_once(ctx.input), await process() != os.getpid()]
"""


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[AsyncClient]:
    path = tmp_path / "features.py"
    path.write_text(SOURCE)
    async with AsyncClient(URL) as client:
        await client.upload(path, if_changed=True)
        yield client


async def test_crash_in_a_task_process_fails_only_its_attempt(
    client: AsyncClient, tmp_path: Path
) -> None:
    handle = await client.start("crashes", str(tmp_path / "mark"))
    assert await handle.result(HANG_S) == [2, True]
    types = [event.type for event in await handle.events()]
    # The execution stayed in its child.
    assert types.count("WORKFLOW_CLAIMED") == 1
    assert "TASK_RETRY_FAILED" in types
    assert [line.message async for line in handle.logs()] == ["attempt 1", "attempt 2"]


CODEC = """
from windlass.codec import AesGcmCodec

def create():
    return AesGcmCodec({"k1": b"k" * 32}, current="k1", compress=True)
"""

ENCRYPTED = """
from windlass import ExecutionContext, pause, progress, task, workflow

@task
async def shout(word: str) -> str:
    print("printed", word)
    await progress(word)
    return word.upper()

@workflow.with_options(affinity={"payloads": "encrypted"})
async def child(ctx: ExecutionContext[str]) -> str:
    return await shout(ctx.input)

@task
async def fails(word: str) -> None:
    raise ValueError(word)

@workflow.with_options(affinity={"payloads": "encrypted"})
async def encrypted(ctx: ExecutionContext[str]) -> list[str]:
    from windlass import call
    said = await call(child, ctx.input)
    try:
        await fails(said)
    except ValueError as error:
        caught = str(error)
    return [said, caught, await pause("review", output=said)]
"""


async def check(path: Path) -> str:
    """Returns what `windlass-check` prints for the executions of a file."""
    command = await asyncio.create_subprocess_exec(
        *[str(Path(sys.executable).with_name("windlass-check")), str(path), "--server", URL],
        *["--path", str(path.parent), "--codec", "codecs_of_test:create"],
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await asyncio.wait_for(command.communicate(), HANG_S)
    assert command.returncode == 0, output
    return output.decode()


async def test_server_sees_no_value_of_an_encrypted_execution(tmp_path: Path) -> None:
    (tmp_path / "codecs_of_test.py").write_text(CODEC)
    (tmp_path / "encrypted.py").write_text(ENCRYPTED)
    codec = AesGcmCodec({"k1": b"k" * 32}, current="k1")
    worker = await asyncio.create_subprocess_exec(
        *[sys.executable, "-m", "windlass.worker", "start", "--server-url", URL],
        *["--bootstrap-token-file", os.environ["WINDLASS_TOKEN_FILE"], "--children", "1"],
        *["--name", "encrypting", "--label", "payloads=encrypted", "--path", str(tmp_path)],
        *["--codec", "codecs_of_test:create"],
    )
    try:
        async with AsyncClient(URL, codec=codec) as client, AsyncClient(URL) as reader:
            await client.upload(tmp_path / "encrypted.py")
            handle = await client.start("encrypted", "marmalade")
            with pytest.raises(ExecutionPausedError) as paused:
                await handle.result(HANG_S, wait_paused=False)
            assert (paused.value.name, paused.value.output) == ("review", "MARMALADE")
            assert "waits at the same place: review" in await check(tmp_path / "encrypted.py")
            await handle.resume("marzipan")
            expected = ["MARMALADE", "MARMALADE", "marzipan"]
            assert await handle.result(HANG_S) == expected
            assert [e.value for e in await handle.events() if e.type == "WORKFLOW_COMPLETED"] == [
                expected
            ]
            rows = [row async for row in client.executions("child")]
            [line] = [line async for line in client.execution(rows[0].execution_id).logs()]
            assert line.message == "printed marmalade"
            seen = []
            for execution_id in (handle.execution_id, rows[0].execution_id):
                raw = reader.execution(execution_id)
                transport = raw._transport
                path = f"/executions/{execution_id}"
                seen.append(json.dumps(await transport.request("GET", f"{path}/logs")))
                detailed = {"detailed": "true"}
                seen.append(json.dumps(await transport.request("GET", path, query=detailed)))
                with pytest.raises(PayloadCodecError, match="this process has none"):
                    await raw.result(HANG_S)
            for word in ("marmalade", "MARMALADE", "marzipan"):
                assert word not in "".join(seen)
            assert "aes-gcm" in "".join(seen)
    finally:
        try:
            worker.send_signal(signal.SIGTERM)
            await asyncio.wait_for(worker.wait(), HANG_S)
        finally:
            if worker.returncode is None:
                worker.kill()


ONCE = """
import os, threading
from windlass import ExecutionContext, sleep, workflow

@workflow.with_options(affinity={"debug": "once"})
async def debugged(ctx: ExecutionContext) -> list:
    await sleep(0.1)
    return [threading.current_thread() is threading.main_thread(), os.getpid(), __file__]
"""


async def test_once_runs_its_execution_and_leaves_those_before_it(tmp_path: Path) -> None:
    path = tmp_path / "debugged.py"
    path.write_text(ONCE)
    async with AsyncClient(URL) as client:
        await client.upload(path)
        earlier = [await client.start("debugged") for _ in range(2)]
        wanted = await client.start("debugged")
        worker = await asyncio.create_subprocess_exec(
            *[sys.executable, "-m", "windlass.worker", "start", "--server-url", URL],
            *["--bootstrap-token-file", os.environ["WINDLASS_TOKEN_FILE"]],
            *["--label", "debug=once", "--once", wanted.execution_id, "--source", str(path)],
        )
        try:
            assert await wanted.result(HANG_S) == [True, worker.pid, str(path)]
            assert await asyncio.wait_for(worker.wait(), HANG_S) == 0
        finally:
            if worker.returncode is None:
                worker.kill()
        for handle in earlier:
            assert "WORKFLOW_STARTED" not in [event.type for event in await handle.events()]
            await handle.cancel()
