"""What the options of tasks do, and what the log says of it."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from run_fixture import FakeServices, run_from, types, value
from windlass import ExecutionContext, ExecutionEvent, TaskMetadata, task, workflow
from windlass._services import Approval
from windlass.errors import ApprovalRejected, ExecutionContextNotFoundError, ExecutionError
from windlass.output_storage import LocalFileStorage
from windlass.task import Task
from windlass.workflow import Workflow

attempts: list[str] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    attempts.clear()


def calling(work: Task[..., Any], *args: Any, **kwargs: Any) -> Workflow[Any, Any]:
    """A workflow that makes one call."""

    @workflow
    async def one(ctx: ExecutionContext[Any]) -> Any:
        return await work(*args, **kwargs)

    return one


async def log_of(work: Task[..., Any], *args: Any, **kwargs: Any) -> list[ExecutionEvent]:
    """What such a workflow records, from its task's first event to its own last one."""
    return (await run_from(calling(work, *args, **kwargs))).events[1:]


@task
async def add(a: int, b: int = 0) -> int:
    return a + b


@task
def blocking(n: int) -> str:
    return threading.current_thread().name


@task.with_options(name="fetch_{url}")
async def fetch(url: str) -> str:
    return url


async def test_a_call_is_recorded_with_all_its_arguments() -> None:
    started, completed, ended = await log_of(add, 1, b=2)
    assert (started.type, started.name, started.value) == ("TASK_STARTED", "add", {"a": 1, "b": 2})
    assert completed.value == {
        "storage_type": "inline",
        "reference_id": started.source_id,
        "metadata": {"value": 3},
    }
    assert ended.value == 3


async def test_a_synchronous_task_runs_in_a_thread() -> None:
    assert (await log_of(blocking, 1))[-1].value != threading.current_thread().name


async def test_a_name_may_be_made_of_arguments() -> None:
    started = (await log_of(fetch, "http://x/\0"))[0]
    assert started.name == "fetch_http://x/?"
    assert started.source_id.startswith("fetch_http://x/?_")


async def test_options_of_an_instance_change_a_copy() -> None:
    renamed = add.with_options(name="plus")
    assert (await log_of(renamed, 1))[0].name == "plus"
    assert add.name == "add"


async def test_an_empty_call_of_the_decorator_is_the_decorator() -> None:
    @task()
    async def thrice(n: int) -> int:
        return 3 * n

    @workflow()
    async def tripled(ctx: ExecutionContext[int]) -> int:
        return await thrice(ctx.input)

    assert (thrice.name, tripled.qualified_name) == ("thrice", "default/tripled")
    assert (await run_from(tripled, input=2)).events[-1].value == 6


async def test_map_calls_once_per_item_in_order() -> None:
    @workflow
    async def mapped(ctx: ExecutionContext[Any]) -> list[int]:
        return await add.map([3, 1, 3])

    assert (await run_from(mapped)).events[-1].value == [3, 1, 3]


def test_a_task_outside_of_a_workflow_is_refused() -> None:
    with pytest.raises(ExecutionContextNotFoundError):
        _ = add(1)


def flaky_until(succeeds_at: int) -> Task[..., Any]:
    @task.with_options(retry_max_attempts=2, retry_delay=0.001, retry_backoff=2)
    async def flaky() -> int:
        attempts.append("flaky")
        if len(attempts) <= succeeds_at:
            raise ValueError(f"no {len(attempts)}")
        return len(attempts)

    return flaky


async def test_retries_are_recorded_one_by_one() -> None:
    log = await log_of(flaky_until(2))
    assert types(log) == [
        "TASK_STARTED",
        "TASK_RETRY_FAILED",
        "TASK_RETRY_STARTED",
        "TASK_RETRY_FAILED",
        "TASK_RETRY_STARTED",
        "TASK_RETRY_COMPLETED",
        "TASK_COMPLETED",
        "WORKFLOW_COMPLETED",
    ]
    first, last = log[1].value, log[4].value
    plan = {"max_attempts": 2, "backoff": 2}
    assert first == {**plan, "current_attempt": 0, "current_delay": 0, "original_attempt": True}
    assert last == {**plan, "current_attempt": 2, "current_delay": 0.002}
    assert log[5].value == {**last, "output": log[6].value}


async def test_after_the_last_attempt_the_task_has_failed() -> None:
    log = await log_of(flaky_until(9))
    assert types(log)[-2:] == ["TASK_FAILED", "WORKFLOW_FAILED"]
    assert value(log[-2]) == log[-1].value == {"type": "ValueError", "message": "no 3"}


async def test_attempts_that_failed_before_are_not_made_again() -> None:
    one = calling(flaky_until(1))
    log = (await run_from(one)).events
    cut = types(log).index("TASK_RETRY_FAILED") + 1
    attempts[:] = ["before"]
    replayed = (await run_from(one, log[:cut])).events
    assert types(replayed)[1:3] == ["TASK_RETRY_STARTED", "TASK_RETRY_COMPLETED"]
    assert attempts == ["before", "flaky"]


async def test_a_timeout_is_a_failure_of_its_own_kind() -> None:
    @task.with_options(timeout=0.01)
    async def slow() -> None:
        await asyncio.sleep(10)

    assert (await log_of(slow))[-1].value == {
        "type": "ExecutionTimeoutError",
        "message": "took longer than 0.01 seconds",
    }


async def test_a_timeout_of_the_task_s_own_is_not_ours() -> None:
    @task.with_options(timeout=10)
    async def raises_timeout() -> None:
        raise TimeoutError("its own")

    assert (await log_of(raises_timeout))[-1].value == {
        "type": "TimeoutError",
        "message": "its own",
    }


async def fails(n: int) -> int:
    raise ValueError(f"failed {n}")


async def undo(n: int) -> str:
    attempts.append(f"undone {n}")
    return "undone"


async def test_a_fallback_gives_the_result_instead() -> None:
    log = await log_of(task.with_options(fallback=add, rollback=undo)(fails), 5)
    mine = [event for event in log if event.name == "fails"]
    assert types(mine) == [
        "TASK_STARTED",
        "TASK_FALLBACK_STARTED",
        "TASK_FALLBACK_COMPLETED",
        "TASK_COMPLETED",
    ]
    assert log[-1].value == 5
    assert attempts == []


async def test_a_failing_fallback_fails_the_task() -> None:
    log = await log_of(task.with_options(fallback=fails)(fails), 5)
    assert types(log) == [
        "TASK_STARTED",
        "TASK_FALLBACK_STARTED",
        "TASK_FALLBACK_FAILED",
        "WORKFLOW_FAILED",
    ]


async def test_a_rollback_undoes_and_the_failure_stays() -> None:
    log = await log_of(task.with_options(rollback=undo)(fails), 5)
    assert types(log) == [
        "TASK_STARTED",
        "TASK_ROLLBACK_STARTED",
        "TASK_ROLLBACK_COMPLETED",
        "TASK_FAILED",
        "WORKFLOW_FAILED",
    ]
    assert log[-1].value == {"type": "ValueError", "message": "failed 5"}
    assert attempts == ["undone 5"]


async def test_a_failing_rollback_is_the_failure() -> None:
    async def worse(n: int) -> None:
        raise OSError("worse")

    log = await log_of(task.with_options(rollback=worse)(fails), 5)
    assert types(log)[-3:] == ["TASK_ROLLBACK_FAILED", "TASK_FAILED", "WORKFLOW_FAILED"]
    assert log[-1].value == {"type": "OSError", "message": "worse"}


async def test_a_result_without_a_form_in_json_fails_the_task_and_says_why() -> None:
    @task
    async def nan() -> float:
        return float("nan")

    log = await log_of(nan)
    assert types(log) == ["TASK_STARTED", "TASK_FAILED", "WORKFLOW_FAILED"]
    assert log[-1].value["type"] == "UnserializableError"
    assert "NaN and infinite numbers" in log[-1].value["message"]


async def test_an_infinite_argument_is_fine() -> None:
    log = await log_of(add, float("-inf"))
    assert log[0].value == {"a": "-inf"}


async def test_a_task_that_ends_the_process_only_fails() -> None:
    @task
    async def leaves() -> None:
        raise SystemExit(3)

    assert (await log_of(leaves))[-1].value["type"] == "SystemExit"


async def test_a_cancelled_thing_inside_of_a_task_fails_only_the_task() -> None:
    @task
    async def waits_for_the_cancelled() -> None:
        future = asyncio.get_running_loop().create_future()
        future.cancel()
        await future

    log = await log_of(waits_for_the_cancelled)
    assert types(log)[-2:] == ["TASK_FAILED", "WORKFLOW_FAILED"]


async def test_secrets_configs_and_metadata_are_injected_and_not_recorded() -> None:
    @task.with_options(secret_requests=["s"], config_requests=["c_{n}"], metadata=True)
    async def given(
        n: int, secrets: dict[str, Any], config: dict[str, Any], metadata: TaskMetadata
    ) -> list[Any]:
        return [secrets["s"], config["c_1"], metadata.task_name]

    services = FakeServices()
    services.stored_values = {"s": "canary", "c_1": 2}
    log = (await run_from(calling(given, 1), services=services)).events
    assert log[-1].value == ["canary", 2, "given"]
    assert log[1].value == {"n": 1}


async def test_results_may_be_kept_in_files(tmp_path: Path) -> None:
    @task.with_options(output_storage=LocalFileStorage(tmp_path))
    async def large() -> set[int]:
        attempts.append("large")
        return {1, 2}

    @workflow
    async def one(ctx: ExecutionContext[Any]) -> list[int]:
        return sorted(await large())

    log = (await run_from(one)).events
    assert log[2].value["storage_type"] == "local_file"
    assert (await run_from(one, log[:-1])).events[-1].value == [1, 2]
    assert attempts == ["large"]


async def test_a_cached_result_serves_other_executions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @task.with_options(cache=True)
    async def costly(n: int) -> int:
        attempts.append("costly")
        return n

    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert (await log_of(costly, 4))[-1].value == 4
    assert attempts == ["costly"]


@task.with_options(requires_approval=lambda amount: amount > 10)
async def pay(amount: int) -> str:
    attempts.append("paid")
    return "paid"


async def test_a_task_waits_for_its_approval() -> None:
    services, one = FakeServices(), calling(pay, 100)
    paused = (await run_from(one, services=services)).events
    assert types(paused) == ["WORKFLOW_STARTED", "TASK_AWAITING_APPROVAL", "WORKFLOW_PAUSED"]
    gate = paused[1].source_id
    assert services.requested_approvals == [(gate, "pay")]
    assert paused[2].value["name"] == f"approval:{gate}"
    assert paused[2].value["output"]["approval_id"] == "a1"
    services.decisions[gate] = Approval("approved")
    ended = (await run_from(one, paused, services=services)).events
    assert types(ended) == ["TASK_STARTED", "TASK_COMPLETED", "WORKFLOW_COMPLETED"]
    assert attempts == ["paid"]


async def test_a_rejected_task_never_runs() -> None:
    services, one = FakeServices(), calling(pay, 100)
    paused = (await run_from(one, services=services)).events
    services.decisions[paused[1].source_id] = Approval("rejected", "a1", None, "eve", "svc", "no")
    ended = (await run_from(one, paused, services=services)).events
    assert types(ended) == ["TASK_FAILED", "WORKFLOW_FAILED"]
    assert ended[-1].value == {
        "type": "ApprovalRejected",
        "message": "task 'pay' was rejected by eve: no",
    }
    assert attempts == []
    assert issubclass(ApprovalRejected, ExecutionError)


async def test_a_task_that_needs_no_approval_asks_for_none() -> None:
    services = FakeServices()
    log = (await run_from(calling(pay, 5), services=services)).events
    assert log[-1].value == "paid"
    assert services.requested_approvals == []


def test_impossible_options_are_refused() -> None:
    with pytest.raises(ValueError, match="not negative"):
        task.with_options(timeout=-1)
