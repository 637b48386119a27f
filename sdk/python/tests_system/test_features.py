"""Features of tasks against a running system with a worker: `WINDLASS_URL` is its address."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from windlass.client import AsyncClient

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
