"""Client against a running system with a worker: `WINDLASS_URL` is its address.

`tests/e2e/python-system.test.ts` starts the system and runs this file.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType

import pytest

from windlass.client import AsyncClient, Client, ExecutionCancelledError

URL = os.environ["WINDLASS_URL"]
PAGE = Path(__file__).parents[3] / "docs" / "python" / "client.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
HANG_S = 60.0

SOURCE = """
import logging

from windlass import ExecutionContext, progress, pause, sleep, task, workflow


@task
async def count(n: int) -> int:
    for i in range(n):
        await progress(i)
    return n


@workflow
async def counts(ctx: ExecutionContext[int]) -> int:
    return await count(ctx.input)


@task
async def pack(n: int) -> None:
    for i in range(n):
        logging.getLogger("shop").warning("box %d is heavy", i)


@workflow
async def writes(ctx: ExecutionContext[int]) -> int:
    print(ctx.input, "boxes")
    await pack(ctx.input)
    return ctx.input


@workflow
async def waits(ctx: ExecutionContext) -> None:
    await sleep(3600)


@workflow
async def two_pauses(ctx: ExecutionContext) -> list[str]:
    return [await pause("first"), await pause("second")]
"""


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[AsyncClient]:
    path = tmp_path / "system.py"
    path.write_text(SOURCE)
    async with AsyncClient(URL) as client:
        await client.upload(path, if_changed=True)
        yield client


async def test_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, *blocks = BLOCK.findall(PAGE.read_text())
    (tmp_path / "orders.py").write_text(first)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    page = ModuleType("client_page")
    for block in blocks:
        # In a thread, as the loop of this test is none of the page's.
        await asyncio.to_thread(exec, compile(block, str(PAGE), "exec"), vars(page))
    tests = [value for name, value in vars(page).items() if name.startswith("test_")]
    assert [inspect.iscoroutinefunction(test) for test in tests] == [True]
    await tests[0]()


async def test_stream_shows_progress_and_every_event_once(client: AsyncClient) -> None:
    handle = await client.start("counts", 3)
    async with asyncio.timeout(HANG_S):
        streamed = [event async for event in handle.stream()]
    logged = [event.type for event in await handle.events()]
    kept = [event.type for event in streamed if event.type != "TASK_PROGRESS"]
    internal = ("WORKFLOW_SCHEDULED", "WORKFLOW_CLAIMED")
    assert kept == [one for one in logged if one not in internal]
    assert await handle.result() == 3


async def test_logs_show_what_the_code_wrote(client: AsyncClient) -> None:
    handle = await client.start("writes", 3)
    assert await handle.result(HANG_S) == 3
    lines = [line async for line in handle.logs()]
    assert [(line.task_name, line.level, line.logger, line.message) for line in lines] == [
        ("", "info", "stdout", "3 boxes"),
        ("pack", "warning", "shop", "box 0 is heavy"),
        ("pack", "warning", "shop", "box 1 is heavy"),
        ("pack", "warning", "shop", "box 2 is heavy"),
    ]
    with Client(URL) as blocking:
        later = await asyncio.to_thread(
            lambda: list(
                blocking.execution(handle.execution_id).logs(after=lines[1].seq, level="warning")
            )
        )
    assert later == lines[2:]


async def test_cancelled_execution_raises(client: AsyncClient) -> None:
    handle = await client.start("waits")
    await handle.cancel()
    with pytest.raises(ExecutionCancelledError):
        await handle.result(HANG_S)
    assert await handle.state() == "CANCELLED"


async def test_pauses_are_resumed_one_after_another(client: AsyncClient) -> None:
    handle = await client.start("two_pauses")
    for name in ("first", "second"):
        async for event in handle.stream():
            paused = event.value.get("name") if event.type == "WORKFLOW_PAUSED" else None
            if paused == name:
                await handle.resume(name)
                break
    assert await handle.result(HANG_S) == ["first", "second"]


async def test_all_executions_are_listed_once_over_many_pages(client: AsyncClient) -> None:
    handles = await asyncio.gather(*[client.start("counts", 0) for _ in range(25)])
    await asyncio.gather(*[handle.result(HANG_S) for handle in handles])
    listed = [row.execution_id async for row in client.executions("counts", page_size=7)]
    assert len(listed) == len(set(listed))
    assert {handle.execution_id for handle in handles} <= set(listed)


def test_threads_share_one_client(client: AsyncClient) -> None:
    with Client(URL) as shared:

        async def in_threads() -> list[int]:
            runs = [asyncio.to_thread(shared.run, "counts", n, timeout=HANG_S) for n in range(10)]
            return list(await asyncio.gather(*runs))

        assert asyncio.run(in_threads()) == list(range(10))


def test_client_of_a_script_ends_with_it() -> None:
    code = f"from windlass.client import Client; print(Client({URL!r}).run('counts', 2))"
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )
    assert (ended.stdout.strip(), ended.stderr, ended.returncode) == ("2", "", 0)
