"""Options of tasks, and the events that they record."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from run_fixture import FakeServices, failure_of, run_from, types, value
from windlass import ExecutionContext, ExecutionEvent, TaskMetadata, task, workflow
from windlass._services import Approval
from windlass.errors import ApprovalRejected, ExecutionContextNotFoundError, ExecutionError
from windlass.output_storage import LocalFileStorage, OutputStorage, OutputStorageReference
from windlass.task import Task
from windlass.workflow import Workflow

attempts: list[str] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    attempts.clear()


def calling(work: Task[..., Any], *args: Any, **kwargs: Any) -> Workflow[Any, Any]:
    """Returns a workflow that makes one call."""

    @workflow
    async def one(ctx: ExecutionContext[Any]) -> Any:
        return await work(*args, **kwargs)

    return one


async def log_of(work: Task[..., Any], *args: Any, **kwargs: Any) -> list[ExecutionEvent]:
    """Returns the events of that workflow, from the first event of its task to its own last one."""
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


async def test_call_is_recorded_with_all_its_arguments() -> None:
    started, completed, ended = await log_of(add, 1, b=2)
    assert (started.type, started.name, started.value) == ("TASK_STARTED", "add", {"a": 1, "b": 2})
    assert completed.value == {
        "storage_type": "inline",
        "reference_id": started.source_id,
        "metadata": {"value": 3},
    }
    assert ended.value == 3


async def test_synchronous_task_runs_in_a_thread() -> None:
    assert (await log_of(blocking, 1))[-1].value != threading.current_thread().name


async def test_name_template_contains_arguments() -> None:
    started = (await log_of(fetch, "http://x/\0"))[0]
    assert started.name == "fetch_http://x/?"
    assert started.source_id.startswith("fetch_http://x/?_")


async def test_with_options_returns_a_copy() -> None:
    renamed = add.with_options(name="plus")
    assert (await log_of(renamed, 1))[0].name == "plus"
    assert add.name == "add"


async def test_decorators_called_without_arguments_return_decorators() -> None:
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


def test_task_outside_a_workflow_raises() -> None:
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


async def test_each_retry_is_recorded() -> None:
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
    first, last = dict(log[1].value), dict(log[4].value)
    plan = {"max_attempts": 2, "backoff": 2}
    assert failure_of(first.pop("failure")) == {"type": "ValueError", "message": "no 1"}
    assert first == {**plan, "current_attempt": 0, "current_delay": 0, "original_attempt": True}
    assert last == {**plan, "current_attempt": 2, "current_delay": 0.002}
    assert log[5].value == {**last, "output": log[6].value}


async def test_task_fails_after_its_last_attempt() -> None:
    log = await log_of(flaky_until(9))
    assert types(log)[-2:] == ["TASK_FAILED", "WORKFLOW_FAILED"]
    assert value(log[-2]) == log[-1].value
    assert failure_of(log[-1].value) == {"type": "ValueError", "message": "no 3"}


async def test_recorded_failed_attempts_are_not_repeated() -> None:
    one = calling(flaky_until(1))
    log = (await run_from(one)).events
    cut = types(log).index("TASK_RETRY_FAILED") + 1
    attempts[:] = ["before"]
    replayed = (await run_from(one, log[:cut])).events
    assert types(replayed)[1:3] == ["TASK_RETRY_STARTED", "TASK_RETRY_COMPLETED"]
    assert attempts == ["before", "flaky"]


async def test_exceeded_timeout_raises_execution_timeout_error() -> None:
    @task.with_options(timeout=0.01)
    async def slow() -> None:
        await asyncio.sleep(10)

    assert failure_of((await log_of(slow))[-1].value) == {
        "type": "ExecutionTimeoutError",
        "message": "the attempt took longer than 0.01 seconds",
    }


async def test_timeout_error_of_the_task_itself_is_kept() -> None:
    @task.with_options(timeout=10)
    async def raises_timeout() -> None:
        raise TimeoutError("its own")

    assert failure_of((await log_of(raises_timeout))[-1].value) == {
        "type": "TimeoutError",
        "message": "its own",
    }


async def fails(n: int) -> int:
    raise ValueError(f"failed {n}")


async def undo(n: int) -> str:
    attempts.append(f"undone {n}")
    return "undone"


async def test_fallback_provides_the_result() -> None:
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


async def test_failed_fallback_fails_the_task() -> None:
    log = await log_of(task.with_options(fallback=fails)(fails), 5)
    assert types(log) == [
        "TASK_STARTED",
        "TASK_FALLBACK_STARTED",
        "TASK_FALLBACK_FAILED",
        "WORKFLOW_FAILED",
    ]


async def test_rollback_runs_and_the_task_still_fails() -> None:
    log = await log_of(task.with_options(rollback=undo)(fails), 5)
    assert types(log) == [
        "TASK_STARTED",
        "TASK_ROLLBACK_STARTED",
        "TASK_ROLLBACK_COMPLETED",
        "TASK_FAILED",
        "WORKFLOW_FAILED",
    ]
    assert failure_of(log[-1].value) == {"type": "ValueError", "message": "failed 5"}
    assert attempts == ["undone 5"]


async def test_failed_rollback_replaces_the_failure() -> None:
    async def worse(n: int) -> None:
        raise OSError("worse")

    log = await log_of(task.with_options(rollback=worse)(fails), 5)
    assert types(log)[-3:] == ["TASK_ROLLBACK_FAILED", "TASK_FAILED", "WORKFLOW_FAILED"]
    assert failure_of(log[-1].value) == {"type": "OSError", "message": "worse"}


async def test_result_that_json_lacks_fails_the_task_with_a_reason() -> None:
    @task
    async def nan() -> float:
        return float("nan")

    log = await log_of(nan)
    assert types(log) == ["TASK_STARTED", "TASK_FAILED", "WORKFLOW_FAILED"]
    assert log[-1].value["type"] == "UnserializableError"
    assert "no NaN and no infinite numbers" in log[-1].value["message"]


async def test_infinite_argument_is_recorded_as_text() -> None:
    log = await log_of(add, float("-inf"))
    assert log[0].value == {"a": "-inf"}


async def test_system_exit_in_a_task_fails_the_task() -> None:
    @task
    async def leaves() -> None:
        raise SystemExit(3)

    assert (await log_of(leaves))[-1].value["type"] == "SystemExit"


async def test_cancelled_future_inside_a_task_fails_only_the_task() -> None:
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


async def test_results_in_local_files_are_replayed(tmp_path: Path) -> None:
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


async def test_cached_result_is_reused_by_other_executions(
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


async def test_result_of_the_cache_is_marked_in_the_log_and_replayed_as_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @task.with_options(cache=True)
    async def costly(n: int) -> list[int]:
        attempts.append("costly")
        return [n]

    monkeypatch.chdir(tmp_path)
    first = await run_from(calling(costly, 4))
    second = await run_from(calling(costly, 4))
    assert [entry.value for entry in (first.events[2], second.events[2])] == [
        {"storage_type": "inline", "reference_id": first.events[2].source_id, "metadata": metadata}
        for metadata in ({"value": [4]}, {"value": [4], "~cached": True})
    ]
    assert '"metadata":{"value":[4],"~cached":true}}' in second.entries[2].text
    again = (await run_from(calling(costly, 4), second.events[:-1])).events
    assert (types(again), again[-1].value) == (["WORKFLOW_COMPLETED"], [4])
    assert attempts == ["costly"]


class Shelf(OutputStorage):
    """Storage that accepts only the metadata that it returned."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def store(self, reference_id: str, value: Any) -> OutputStorageReference:
        self.values.append(value)
        return OutputStorageReference("shelf", reference_id, {"at": len(self.values) - 1})

    def retrieve(self, reference: OutputStorageReference) -> Any:
        assert reference.metadata.keys() == {"at"}
        return self.values[reference.metadata["at"]]


async def test_result_of_the_cache_in_a_storage_is_marked_but_the_storage_does_not_see_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @task.with_options(cache=True, output_storage=Shelf())
    async def costly(n: int) -> int:
        attempts.append("costly")
        return n

    monkeypatch.chdir(tmp_path)
    await log_of(costly, 4)
    second = await run_from(calling(costly, 4))
    log = second.events
    assert log[2].value["metadata"] == {"at": 1, "~cached": True}
    assert second.entries[2].text.count(',"~cached":true}}') == 1
    assert (await run_from(calling(costly, 4), log[:-1])).events[-1].value == 4
    assert attempts == ["costly"]


@task.with_options(requires_approval=lambda amount: amount > 10)
async def pay(amount: int) -> str:
    attempts.append("paid")
    return "paid"


async def test_task_waits_for_its_approval() -> None:
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


async def test_rejected_task_does_not_run() -> None:
    services, one = FakeServices(), calling(pay, 100)
    paused = (await run_from(one, services=services)).events
    services.decisions[paused[1].source_id] = Approval("rejected", "a1", None, "eve", "svc", "no")
    ended = (await run_from(one, paused, services=services)).events
    assert types(ended) == ["TASK_FAILED", "WORKFLOW_FAILED"]
    assert failure_of(ended[-1].value) == {
        "type": "ApprovalRejected",
        "message": "task 'pay' was rejected by eve: no",
    }
    assert attempts == []
    assert issubclass(ApprovalRejected, ExecutionError)


async def test_task_without_required_approval_requests_none() -> None:
    services = FakeServices()
    log = (await run_from(calling(pay, 5), services=services)).events
    assert log[-1].value == "paid"
    assert services.requested_approvals == []
