"""`current()` and the threads of synchronous tasks."""

from __future__ import annotations

import asyncio
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from run_fixture import EXECUTION_ID, run_from, types
from windlass import ExecutionContext, current, task, workflow
from windlass.errors import ExecutionContextNotFoundError

seen: list[Any] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    seen.clear()


def test_current_outside_a_run_raises() -> None:
    with pytest.raises(ExecutionContextNotFoundError):
        current()


async def test_current_names_execution_workflow_task_and_call() -> None:
    @task.with_options(name="load_{n}", timeout=60)
    def load(n: int) -> dict[str, Any]:
        here = current()
        assert here.deadline is not None
        assert timedelta(0) < here.deadline - datetime.now(UTC) <= timedelta(seconds=60)
        return {"task": here.task, "call": here.call_id, "key": here.idempotency_key}

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> Any:
        here = current()
        assert (here.task, here.call_id, here.deadline, here.attempt) == ("", "", None, 1)
        return [here.execution_id, here.workflow, here.idempotency_key, await load(1)]

    log = (await run_from(body)).events
    call_id = log[1].source_id
    assert log[-1].value == [
        EXECUTION_ID,
        "default/body",
        EXECUTION_ID,
        {"task": "load_1", "call": call_id, "key": f"{EXECUTION_ID}:{call_id}"},
    ]


async def test_attempts_are_numbered_and_share_one_idempotency_key() -> None:
    @task.with_options(retry_max_attempts=2, retry_delay=0)
    async def flaky() -> None:
        seen.append((current().attempt, current().idempotency_key))
        raise ValueError

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        await flaky()

    await run_from(body)
    assert [number for number, _ in seen] == [1, 2, 3]
    assert len({key for _, key in seen}) == 1


async def test_is_replaying_until_the_first_new_entry() -> None:
    @task
    async def step(n: int) -> None: ...

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        for n in range(3):
            seen.append(current().is_replaying)
            await step(n)

    log = (await run_from(body)).events
    assert seen == [False, False, False]
    seen.clear()
    await run_from(body, log[:3])
    assert seen == [True, True, False]


async def test_retry_starts_after_the_thread_of_the_timed_out_attempt_has_ended() -> None:
    running = threading.Lock()

    @task.with_options(timeout=0.05, retry_max_attempts=1, retry_delay=0)
    def slow() -> str:
        assert running.acquire(blocking=False), "two attempts at a time"
        try:
            while current().attempt == 1 and not current().cancelled:
                time.sleep(0.005)
            time.sleep(0.02 if current().attempt == 1 else 0)
        finally:
            running.release()
        return "done"

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> str:
        return await slow()

    assert (await run_from(body)).events[-1].value == "done"


@pytest.mark.parametrize("kind", ["fallback", "rollback"])
async def test_fallback_and_rollback_start_after_the_thread_has_ended(kind: str) -> None:
    running = threading.Event()

    def clean_up() -> None:
        seen.append(running.is_set())

    def work() -> None:
        running.set()
        while not current().cancelled:
            time.sleep(0.005)
        time.sleep(0.02)
        running.clear()

    slow = task.with_options(timeout=0.05, **{kind: clean_up})(work)  # type: ignore[arg-type]

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        await slow()

    await run_from(body)
    assert seen == [False]


async def test_failed_attempt_without_retries_does_not_wait_for_its_thread() -> None:
    stop = threading.Event()

    @task.with_options(timeout=0.02)
    def stuck() -> None:
        stop.wait(30)

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        await stuck()

    log = (await run_from(body)).events
    assert not stop.is_set()
    stop.set()
    assert types(log)[-2:] == ["TASK_FAILED", "WORKFLOW_FAILED"]


async def test_synchronous_task_that_timed_out_before_it_got_a_thread_never_runs() -> None:
    stop = threading.Event()
    loop = asyncio.get_running_loop()
    workers = [loop.run_in_executor(None, stop.wait, 30) for _ in range(64)]

    @task.with_options(timeout=0.02)
    def late() -> None:
        seen.append("ran")

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        await late()

    log = (await run_from(body)).events
    stop.set()
    await asyncio.gather(*workers)
    await loop.run_in_executor(None, time.sleep, 0)
    assert log[-1].value["type"] == "ExecutionTimeoutError"
    assert seen == []
