"""`workflow.run`: executions in the calling process."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from windlass import ExecutionContext, call, current, pause, sleep, task, workflow
from windlass.errors import ExecutionError, WorkflowNotFoundError


@dataclass(frozen=True)
class Total:
    amount: int


@task
async def double(amount: int) -> int:
    return 2 * amount


@task
async def fails(amount: int) -> int:
    raise ZeroDivisionError(f"no {amount}")


@workflow
async def total(ctx: ExecutionContext[int]) -> Total:
    return Total(await double(ctx.input))


@workflow
async def broken(ctx: ExecutionContext[int]) -> int:
    return await fails(ctx.input)


@workflow
async def asks(ctx: ExecutionContext[Any]) -> list[str]:
    answer = await pause("question")
    return [answer, current().execution_id]


@workflow
async def waits_for_months(ctx: ExecutionContext[Any]) -> str:
    await sleep(timedelta(days=90))
    async with asyncio.timeout(3600):
        await asyncio.sleep(1800)
    return "later"


def test_result_is_typed_and_failures_are_raised_with_their_traceback() -> None:
    assert total.run(2).result() == Total(4)
    with pytest.raises(ZeroDivisionError, match="no 3") as failed:
        broken.run(3).result()
    assert isinstance(failed.value, ExecutionError)
    assert "in fails" in failed.value.__notes__[0]


def test_execution_is_shown_with_its_workflow_and_state() -> None:
    assert repr(total.run(2)) == "LocalExecution('default/total', COMPLETED)"


def test_sleeps_take_no_time() -> None:
    assert waits_for_months.run().result() == "later"


def test_paused_execution_has_no_result_until_it_is_resumed() -> None:
    paused = asks.run()
    with pytest.raises(ExecutionError, match="it is PAUSED on 'question'; resume it"):
        paused.result()
    with pytest.raises(WorkflowNotFoundError):
        total.resume(paused.execution_id, "x")
    assert asks.resume(paused.execution_id, "x").result() == ["x", paused.execution_id]
    assert asks.run().execution_id != paused.execution_id


async def test_runs_under_a_running_loop_and_many_at_a_time() -> None:
    assert total.run(2).result() == Total(4)
    runs = await asyncio.gather(*[total.arun(n) for n in range(10)])
    assert [run.result() for run in runs] == [Total(2 * n) for n in range(10)]


async def test_real_connections_are_awaited_longer_than_the_tests_engine_would() -> None:
    async def slow(_: web.Request) -> web.Response:
        await asyncio.sleep(1.5)
        return web.Response(text="answer")

    app = web.Application()
    app.router.add_get("/", slow)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/"

    @task.with_options(timeout=30)
    async def fetch() -> str:
        async with aiohttp.ClientSession() as http, http.get(url) as response:
            return await response.text()

    @workflow
    async def fetches(ctx: ExecutionContext[Any]) -> str:
        text = await fetch()
        await sleep(3600)
        return text

    assert (await fetches.arun()).result() == "answer"
    await runner.cleanup()


def test_started_sub_workflow_runs_to_its_end() -> None:
    ended = []

    @task
    async def end(name: str) -> None:
        ended.append(name)

    @workflow
    async def child(ctx: ExecutionContext[Any]) -> None:
        await sleep(60)
        await end("child")

    @workflow
    async def parent(ctx: ExecutionContext[Any]) -> str:
        return str(await call(child, mode="async"))

    assert len(parent.run().result()) == 32
    assert ended == ["child"]


def test_wait_for_something_that_never_happens_is_an_error() -> None:
    @workflow
    async def forever(ctx: ExecutionContext[Any]) -> None:
        await asyncio.Event().wait()

    with pytest.raises(ExecutionError, match="waits for something that never happens"):
        forever.run()
