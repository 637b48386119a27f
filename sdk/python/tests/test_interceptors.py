"""Interceptors: around attempts and bodies, in the engine and in the processes of a worker."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from conftest import HANG_S, Workers, until
from server_fake import BOOTSTRAP, TERMINAL, FakeServer
from windlass import ExecutionContext, Retry, current, parallel, pause, sleep, task, workflow
from windlass.interceptors import Proceed, load_interceptor
from windlass.testing import Engine
from windlass.worker._bootstrap import TOKEN_VARIABLE

seen: list[Any] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    seen.clear()


async def note(proceed: Proceed) -> Any:
    running = current()
    seen.append(f"{running.task or running.workflow} {running.attempt} begins")
    try:
        return await proceed()
    except BaseException as error:
        seen.append(type(error).__name__)
        raise
    finally:
        seen.append(f"{running.task or running.workflow} ends")


async def outer(proceed: Proceed) -> Any:
    seen.append("outer")
    return await proceed()


@task.with_options(retry=Retry(attempts=2, delay=60, jitter=0))
async def flaky(n: int) -> int:
    if current().attempt == 1:
        raise ValueError(n)
    return n


@task
def plain(n: int) -> int:
    return 2 * n


@workflow
async def flow(ctx: ExecutionContext[int]) -> list[int]:
    values = await parallel(plain(ctx.input), flaky(ctx.input))
    await sleep(timedelta(days=1))
    return list(values)


async def test_each_attempt_and_each_body_is_intercepted_and_tasks_of_the_sdk_are_not() -> None:
    with Engine(interceptors=[outer, note]) as engine:
        run = await engine.start(flow, 3)
        await engine.advance(timedelta(days=2))
        assert run.result() == [6, 3]
    assert seen.count("outer") == 4
    assert seen[:3] == ["outer", "default/flow 1 begins", "outer"]
    assert sorted(line for line in seen if "begins" in line) == [
        "default/flow 1 begins",
        "flaky 1 begins",
        "flaky 2 begins",
        "plain 1 begins",
    ]
    assert seen.count("ValueError") == 1
    assert seen[-1] == "default/flow ends"


async def test_recorded_calls_are_not_intercepted_again_and_a_parked_body_is() -> None:
    with Engine(interceptors=[note], park_after=5) as engine:
        run = await engine.start(flow, 3)
        await engine.advance(timedelta(days=2))
        assert run.result() == [6, 3]
    assert seen.count("plain 1 begins") == 1
    # The first run, one after the delay of the retry, and one after the sleep.
    assert seen.count("default/flow 1 begins") == 3


async def test_result_of_an_interceptor_is_recorded_and_an_error_fails_the_task() -> None:
    async def replace(proceed: Proceed) -> Any:
        if not current().task:
            return await proceed()
        if current().task == "flaky":
            raise LookupError("refused")
        return await proceed() + 100

    @workflow
    async def body(ctx: ExecutionContext[int]) -> list[Any]:
        first = await plain(ctx.input)
        try:
            await flaky(1)
        except LookupError as error:
            return [first, str(error)]
        return [first]

    with Engine(interceptors=[replace]) as engine:
        run = await engine.start(body, 3)
        await engine.advance(timedelta(days=1))
        log = run.events
        assert run.result() == [106, "refused"]
    with Engine() as engine:
        assert (await engine.continue_from(body, 3, log[:-1])).result() == [106, "refused"]


async def test_pause_and_cancel_pass_through_an_interceptor() -> None:
    @workflow
    async def asks(ctx: ExecutionContext[Any]) -> Any:
        return await pause("review")

    @workflow
    async def waits(ctx: ExecutionContext[Any]) -> None:
        await asyncio.sleep(3600)

    with Engine(interceptors=[note]) as engine:
        run = await engine.start(asks)
        assert run.paused_on == "review"
        await run.resume("yes")
        assert run.result() == "yes"
        waiting = await engine.start(waits)
        await waiting.cancel()
        assert waiting.state == "CANCELLED"
    assert seen[1] == "PauseRequested"
    assert seen[-2:] == ["CancelledError", "default/waits ends"]


INTERCEPTOR = """
import os
from windlass import current

async def note(proceed):
    result = await proceed()
    with open({path!r}, "a") as file:
        file.write(f"{{current().execution_id}} {{current().task}} {{os.getpid()}}\\n")
    return result
"""

SOURCE = """
import os
from windlass import ExecutionContext, task, workflow

@task
def step() -> int:
    return os.getpid()

@workflow
async def runs(ctx: ExecutionContext) -> int:
    return await step()
"""


async def test_worker_calls_interceptors_in_the_process_that_runs_the_workflow(
    server: FakeServer, workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "notes"
    (tmp_path / "own_interceptors.py").write_text(INTERCEPTOR.format(path=str(notes)))
    monkeypatch.syspath_prepend(tmp_path)
    await workers.start(path=[str(tmp_path)], interceptors=["own_interceptors:note"])
    stored = server.start(SOURCE, "runs", None)
    await until(lambda: stored.state in TERMINAL)
    assert stored.state == "COMPLETED"
    assert notes.read_text().splitlines() == [
        f"{stored.execution_id} step {stored.output}",
        f"{stored.execution_id}  {stored.output}",
    ]


@pytest.mark.parametrize("reference", ["absent_module:note", "json", "json:absent", "json:dumps"])
def test_interceptor_that_cannot_be_loaded_is_named(reference: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"--interceptor {reference}: ")):
        load_interceptor(reference)


@pytest.mark.parametrize("children", ["0", "1"])
async def test_worker_whose_interceptor_cannot_be_loaded_ends_with_code_2(
    server: FakeServer, processes: list[asyncio.subprocess.Process], children: str
) -> None:
    process = await asyncio.create_subprocess_exec(
        *[sys.executable, "-m", "windlass.worker", "start", "--server-url", server.url],
        *["--children", children, "--interceptor", "json:absent"],
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, TOKEN_VARIABLE: BOOTSTRAP},
    )
    processes.append(process)
    _, errors = await asyncio.wait_for(process.communicate(), HANG_S)
    assert process.returncode == 2
    assert b"windlass worker: --interceptor json:absent: AttributeError" in errors
