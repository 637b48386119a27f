"""Lines of runs without a server: `run.logs`."""

from __future__ import annotations

import asyncio
import logging
import sys

import pytest

from windlass import ExecutionContext, pause, task, workflow
from windlass.testing import Engine, LogLine

log = logging.getLogger("shop")


@task
async def pack(n: int) -> None:
    log.warning("box %d is heavy", n)
    sys.stderr.write("careful\n")


@task
def label(n: int) -> None:
    sys.stdout.write(f"label {n}\n")


@task.with_options(secret_requests=["KEY"])
async def opens(secrets: dict[str, str] | None = None) -> None:
    assert secrets
    sys.stdout.write(f"the key is {secrets['KEY']}\n")


@task.with_options(sensitive=True)
async def hides() -> None:
    log.warning("confidential")


@workflow
async def ships(ctx: ExecutionContext[int]) -> None:
    sys.stdout.write("begins")
    await pack(ctx.input)
    await label(ctx.input)
    await pause("review")
    log.error("ends")
    await hides()


@workflow
async def opens_all(ctx: ExecutionContext[None]) -> None:
    await opens()


def shown(lines: list[LogLine]) -> list[tuple[str, str, str, str]]:
    return [(line.task_name, line.level, line.logger, line.message) for line in lines]


BEFORE = [
    ("pack", "warning", "shop", "box 3 is heavy"),
    ("pack", "warning", "stderr", "careful"),
    ("label", "info", "stdout", "label 3"),
    ("", "info", "stdout", "begins"),
]
AFTER = ("", "error", "shop", "ends")


async def test_engine_shows_lines_once_with_task_and_level(engine: Engine) -> None:
    run = await engine.start(ships, 3)
    assert shown(run.logs) == BEFORE
    assert {line.task_id.rpartition("_")[0] for line in run.logs} == {"pack", "label", ""}
    await run.resume()
    assert shown(run.logs) == [*BEFORE, AFTER]


async def test_secret_is_masked(engine: Engine) -> None:
    engine.secrets["KEY"] = "abc-123"
    run = await engine.start(opens_all)
    assert [line.message for line in run.logs] == ["the key is ***"]


def test_run_of_a_workflow_shows_lines_that_are_also_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = ships.run(3)
    assert shown(run.logs) == BEFORE
    resumed = ships.resume(run.execution_id)
    assert shown(resumed.logs) == [*BEFORE, AFTER]
    assert "label 3" in capsys.readouterr().out


async def test_concurrent_engines_keep_their_lines_apart_and_restore_the_streams() -> None:
    streams, handlers = (sys.stdout, sys.stderr), list(logging.getLogger().handlers)
    runs = await asyncio.gather(*[ships.arun(n) for n in range(8)])
    for n, run in enumerate(runs):
        assert f"label {n}" in [line.message for line in run.logs]
        assert len(run.logs) == len(BEFORE)
    assert (sys.stdout, sys.stderr) == streams
    assert logging.getLogger().handlers == handlers
