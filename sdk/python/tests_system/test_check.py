"""Changes of code against a running system with a worker: `WINDLASS_URL` is its address."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path
from typing import Any

from windlass.client import AsyncClient, AsyncHandle, ExecutionPausedError

URL = os.environ["WINDLASS_URL"]
HANG_S = 120.0
PAUSED = 200

SOURCE = """
from windlass import ExecutionContext, pause, task, workflow

@task
async def charge(amount: int) -> int:
    return amount

@task
async def ship(order: int) -> str:
    return f"shipped {order}"

@workflow
async def changing(ctx: ExecutionContext[int]):
    amount = await charge(ctx.input)
    decision = await pause("review")
    return [amount, decision, await ship(ctx.input)]
"""
GOOD = SOURCE.replace("ship(ctx.input)]", "ship(ctx.input), await charge(-1)]")
RENAMED = SOURCE.replace("charge", "charge_card")


async def check(path: Path, *arguments: str) -> tuple[int | None, str]:
    """Runs the installed command; returns its exit code and output."""
    command = Path(sys.executable).with_name("windlass-check")
    process = await asyncio.create_subprocess_exec(
        command, path, "--server", URL, *arguments, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(HANG_S):
        out, _ = await process.communicate()
    return process.returncode, out.decode()


async def pauses_on(handle: AsyncHandle[Any]) -> ExecutionPausedError:
    try:
        await handle.result(HANG_S, wait_paused=False)
    except ExecutionPausedError as paused:
        return paused
    raise AssertionError("the execution has ended")


async def test_changes_are_checked_then_paused_then_corrected(tmp_path: Path) -> None:
    original, good, renamed = (tmp_path / f"{name}.py" for name in ("original", "good", "renamed"))
    original.write_text(SOURCE)
    good.write_text(GOOD)
    renamed.write_text(RENAMED)
    async with AsyncClient(URL) as client:
        (uploaded,) = await client.upload(original)
        handles = [await client.start("changing", n) for n in range(PAUSED)]
        for handle in handles:
            assert (await pauses_on(handle)).name == "review"

        code, out = await check(good)
        assert (code, out.count("waits at the same place: review")) == (0, PAUSED)
        assert out.endswith(f"0 same, {PAUSED} waiting at the same place, 0 different\n")
        code, out = await check(renamed)
        assert code == 1
        assert (
            len(re.findall("differs at step 1: the log has charge .* charge_card", out)) == PAUSED
        )
        first = handles[0].execution_id
        code, out = await check(renamed, "--execution", first)
        assert (code, out.count("\n"), first in out) == (1, 2, True)
        await handles[1].export(tmp_path / "execution.json")
        code, out = await check(renamed, "--limit", "3")
        assert (code, out.count("differs at step 1")) == (1, 3)

        await client.upload(renamed)
        corrected, continued, failed = handles[:3]
        for handle in (corrected, continued, failed):
            await handle.resume("yes")
            paused = await pauses_on(handle)
            assert paused.name == "nondeterminism"
            recorded, new = paused.output["recorded"], paused.output["new"]
            assert (recorded["name"], recorded["step"]) == ("charge", 1)
            assert (new["name"], new["version"]) == ("charge_card", 2)
            assert recorded["version"] == uploaded.version == 1
            assert re.search(r"changing version \d+>:\d+$", new["place"])
        calls = {event.name for event in await corrected.events() if event.type == "TASK_COMPLETED"}
        assert "charge_card" not in calls

        await failed.resume("fail")
        await continued.resume("continue")
        # The pause of the workflow was resumed before, but the new run has yet to reach it.
        assert (await pauses_on(continued)).name == "review"
        await continued.resume("again")
        assert await continued.result(HANG_S) == [1, "again", "shipped 1"]

        await client.upload(good)
        await corrected.resume()
        assert (await pauses_on(corrected)).name == "review"
        await corrected.resume("yes")
        assert await corrected.result(HANG_S) == [0, "yes", "shipped 0", -1]
        assert await failed.state() == "FAILED"
