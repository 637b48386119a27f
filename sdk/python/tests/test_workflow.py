"""Workflows: options, inline runs and outcomes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from effects import charge, effects
from run_fixture import failure_of, pass_time, run_from, types
from windlass import (
    ExecutionContext,
    ExecutionState,
    PauseRequested,
    ResourceRequest,
    call,
    cron,
    interval,
    once,
    pause,
    task,
    workflow,
)
from windlass.domain.schedule import Schedule
from windlass.errors import WorkflowNotFoundError
from windlass.output_storage import LocalFileStorage
from windlass.routing import input as given
from windlass.routing import label, least, load, metric, most, prefer, resource, score, sticky


@task
async def double(n: int) -> int:
    return 2 * n


@workflow
async def doubled(ctx: ExecutionContext[int]) -> int:
    return await double(ctx.input)


@workflow
async def asks(ctx: ExecutionContext[Any]) -> list[Any]:
    first = await pause("ask", output={"question": ctx.input})
    second = await pause("ask", output={"question": ctx.input})
    return [first, second]


def test_inline_run_completes_without_a_server() -> None:
    context = doubled.run(21)
    assert (context.state, context.output) == (ExecutionState.COMPLETED, 42)
    assert context.has_finished
    assert context.has_succeeded
    assert not context.has_failed
    assert types(context.events) == [
        "WORKFLOW_STARTED",
        "TASK_STARTED",
        "TASK_COMPLETED",
        "WORKFLOW_COMPLETED",
    ]
    assert json.loads(context.to_json())["output"] == 42


def test_equal_pauses_are_resumed_one_after_the_other() -> None:
    context = asks.run("?")
    assert context.is_paused
    assert context.events[-1].value == {"name": "ask", "output": {"question": "?"}}
    context = asks.resume(context.execution_id, 1)
    assert context.is_paused
    context = asks.resume(context.execution_id, None)
    assert context.output == [1, None]
    with pytest.raises(WorkflowNotFoundError):
        asks.resume(context.execution_id, 3)


async def test_pause_and_resume_record_the_documented_log() -> None:
    log = (await run_from(asks, (), "?")).events
    assert types(log) == ["WORKFLOW_STARTED", "TASK_STARTED", "TASK_PAUSED", "WORKFLOW_PAUSED"]
    assert log[2].value == "ask"
    context = asks.run("?")
    context = asks.resume(context.execution_id, {"a": 1})
    resumed = context.events[5:8]
    assert types(resumed) == ["WORKFLOW_RESUMED", "TASK_RESUMED", "TASK_COMPLETED"]
    assert resumed[0].value == {"a": 1}
    assert resumed[1].value == {"name": "ask", "input": {"a": 1}}
    assert resumed[2].value["metadata"] == {"value": {"a": 1}}


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("no"), {"type": "ValueError", "message": "no"}),
        (SystemExit(1), {"type": "SystemExit", "message": "1"}),
        (asyncio.CancelledError(), {"type": "CancelledError", "message": ""}),
        (ExceptionGroup("g", [KeyError("k")]), {"type": "KeyError", "message": "'k'"}),
    ],
)
def test_any_exception_fails_the_workflow(error: BaseException, expected: dict[str, str]) -> None:
    @workflow
    async def fails(ctx: ExecutionContext[Any]) -> None:
        raise error

    context = fails.run()
    assert context.state == ExecutionState.FAILED
    assert failure_of(context.output) == expected


def test_output_that_json_lacks_fails_the_workflow() -> None:
    @workflow
    async def infinite(ctx: ExecutionContext[Any]) -> Any:
        return {"x": [float("inf")]}

    assert infinite.run().output["type"] == "UnserializableError"


def test_pause_is_not_caught_by_except_exception() -> None:
    @workflow
    async def careless(ctx: ExecutionContext[Any]) -> Any:
        try:
            return await pause("p")
        except Exception:
            return "caught"

    context = careless.run()
    assert context.is_paused
    assert careless.resume(context.execution_id, "body").output == "body"
    assert not issubclass(PauseRequested, Exception)


async def test_transient_run_records_only_its_start_and_end() -> None:
    log = (await run_from(doubled, (), 1, transient=True)).events
    assert types(log) == ["WORKFLOW_STARTED", "WORKFLOW_COMPLETED"]
    log = (await run_from(asks, (), 1, transient=True)).events
    assert log[-1].value["type"] == "TransientDurabilityError"


def test_workflow_calls_another_workflow() -> None:
    @workflow
    async def parent(ctx: ExecutionContext[int]) -> Any:
        return [await call(doubled, ctx.input), await doubled(ctx)]

    assert parent.run(4).output == [8, 8]

    @workflow
    async def unlucky(ctx: ExecutionContext[Any]) -> Any:
        return await call(doubled, "x")  # type: ignore[misc]

    assert failure_of(unlucky.run().output) == {
        "type": "ValueMismatchError",
        "message": "the input of default/doubled does not fit its annotation: "
        "Expected `int`, got `str`",
    }


def test_output_is_stored_in_a_local_file(tmp_path: Path) -> None:
    @workflow.with_options(output_storage=LocalFileStorage(tmp_path, "json"))
    async def large(ctx: ExecutionContext[Any]) -> list[int]:
        return [1, 2]

    reference = large.run().output
    assert reference["storage_type"] == "local_file"
    assert json.loads((tmp_path / reference["metadata"]["file"]).read_text()) == [1, 2]


def test_synchronous_workflow_runs() -> None:
    @workflow
    def plain(ctx: ExecutionContext[int]) -> int:
        return ctx.input + 1

    assert plain.run(1).output == 2


def test_options_are_available_as_attributes() -> None:
    every = interval(minutes=5)

    @workflow.with_options(
        name="report",
        namespace="billing",
        secret_requests=["key"],
        requests=ResourceRequest(cpu=2, memory="4Gi", packages=["numpy>=2"]),
        affinity={"region": "eu"},
        schedule=every,
        runner="inprocess",
        required_permissions=["workflow:billing:report:run"],
        routing=score(prefer(label("region") == given("customer.region"), weight=10), least(load)),
    )
    async def reports(ctx: ExecutionContext[Any]) -> None: ...

    assert reports.qualified_name == "billing/report"
    assert (reports.schedule, reports.affinity) == (every, {"region": "eu"})
    assert reports.options.required_permissions == ["workflow:billing:report:run"]
    assert reports.requests is not None
    assert reports.requests.memory == "4Gi"
    assert reports.routing is not None
    assert reports.routing.to_dict() == {
        "terms": [
            {
                "kind": "prefer",
                "selector": "label:region",
                "op": "==",
                "value": {"$input": "customer.region"},
                "weight": 10.0,
            },
            {"kind": "least", "selector": "load", "weight": 1.0},
        ]
    }


@pytest.mark.parametrize(
    "make",
    [
        lambda **more: cron("0 9 * * *", **more),
        lambda **more: interval(hours=1, **more),
        lambda **more: once("2099-01-01T00:00:00Z", **more),
    ],
)
def test_schedule_overlap_is_optional_and_validated(make: Callable[..., Schedule]) -> None:
    assert "overlap" not in make().to_dict()
    assert make(overlap="cancel_previous").to_dict()["overlap"] == "cancel_previous"
    with pytest.raises(ValueError, match="sometimes"):
        make(overlap="sometimes")


def test_routing_terms_keep_their_order_and_operators() -> None:
    policy = score(prefer(metric("x") > 2), most(resource("memory_available")), sticky(3))
    assert policy.to_dict()["terms"][0]["op"] == ">"
    assert [term["kind"] for term in policy.to_dict()["terms"]] == ["prefer", "most", "sticky"]


@pytest.mark.parametrize(
    "options",
    [
        {"durability": "sometimes"},
        {"durability": "transient", "schedule": cron("0 9 * * *")},
        {"runner": "cloud"},
        {"namespace": "No Good"},
        {"routing": "least(load)"},
    ],
)
def test_invalid_options_are_rejected(options: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        workflow.with_options(**options)


@pytest.mark.parametrize(
    "made",
    [
        score,
        lambda: least(load, weight=0),
        lambda: prefer(True),  # type: ignore[arg-type]
        lambda: resource("luck"),
        interval,
        lambda: cron("* *"),
        lambda: once("tomorrow"),
    ],
)
def test_invalid_values_are_rejected(made: Callable[[], object]) -> None:
    with pytest.raises((ValueError, TypeError)):
        made()


def test_schedules_convert_to_dicts() -> None:
    assert cron("0 9 * * MON-FRI", timezone="Europe/Vienna").to_dict() == {
        "type": "cron",
        "timezone": "Europe/Vienna",
        "cron_expression": "0 9 * * MON-FRI",
    }
    assert interval(hours=1, minutes=30).to_dict()["interval_seconds"] == 5400
    assert once("2026-01-02T03:04:05").to_dict()["run_time"] == "2026-01-02T03:04:05"


async def test_the_loop_is_blocked_beyond_the_limit_of_clean_up_it_is_not_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def holder() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            pass_time(monkeypatch)
            for _ in range(10):
                await asyncio.sleep(0)
            await charge(1)

    @workflow
    async def fails(ctx: ExecutionContext[Any]) -> None:
        holding = asyncio.create_task(holder())
        await asyncio.sleep(0)
        raise ValueError(str(holding.done()))

    journal = await run_from(fails)
    assert effects == ["charge 1"]
    assert types(journal.events)[-2:] == ["TASK_COMPLETED", "WORKFLOW_FAILED"]
