"""Spans of runs and of task attempts, and the context that requests carry."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from aiohttp import web
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from conftest import Workers, until
from server_fake import TERMINAL, FakeServer, StoredExecution
from windlass._trace import SpanRecord, parse_traceparent
from windlass.worker import _worker
from windlass.worker._settings import Settings
from windlass.worker._tracing import Tracing

TRACE = "ab" * 16
DISPATCH = "cd" * 8
TRACEPARENT = f"00-{TRACE}-{DISPATCH}-01"

SOURCE = """
from windlass import ExecutionContext, call, current, task, workflow

@task
async def inner():
    return current().traceparent

@task
async def outer():
    return [current().traceparent, await inner()]

@task
def in_thread():
    return current().traceparent

@task.with_options(retry_max_attempts=1, retry_delay=0)
async def flaky():
    if current().attempt == 1:
        raise ValueError("a secret")

@workflow
async def nested(ctx: ExecutionContext):
    return [*await outer(), await in_thread(), current().traceparent]

@workflow
async def retries(ctx: ExecutionContext):
    await flaky()

@workflow
async def starts(ctx: ExecutionContext):
    return await call("default/other", 1)
"""


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Exporter that receives the spans of workers."""
    exporter = InMemorySpanExporter()

    def start(settings: Settings) -> Tracing:
        return Tracing(SimpleSpanProcessor(exporter), settings.name)

    monkeypatch.setattr(_worker, "start_tracing", start)
    return exporter


def record_context(server: FakeServer) -> list[tuple[str, str | None]]:
    """Records the path and the `traceparent` of each request."""
    requests: list[tuple[str, str | None]] = []

    async def record(request: web.Request) -> None:
        requests.append((request.path, request.headers.get("traceparent")))

    server.faults.append(record)
    return requests


async def run_traced(
    server: FakeServer, workers: Workers, name: str, traceparent: str | None = TRACEPARENT
) -> StoredExecution:
    await workers.start()
    extra = {} if traceparent is None else {"traceparent": traceparent}
    stored = server.start(SOURCE, name, **extra)
    await until(lambda: stored.state in TERMINAL)
    # The span of a run ends after its last checkpoint.
    await workers.stop("w1")
    return stored


def ids(span: ReadableSpan) -> tuple[str, str]:
    assert span.context is not None
    return f"{span.context.trace_id:032x}", f"{span.context.span_id:016x}"


def parent_id(span: ReadableSpan) -> str:
    assert span.parent is not None
    return f"{span.parent.span_id:016x}"


def named(spans: Sequence[ReadableSpan], name: str) -> ReadableSpan:
    [found] = [span for span in spans if span.name == name]
    return found


async def test_nested_tasks_are_below_the_run_which_is_below_the_dispatch(
    server: FakeServer, workers: Workers, exported: InMemorySpanExporter
) -> None:
    requests = record_context(server)
    stored = await run_traced(server, workers, "nested")
    spans = exported.get_finished_spans()
    run = named(spans, "run default/nested")
    outer, inner = named(spans, "task outer"), named(spans, "task inner")
    in_thread = named(spans, "task in_thread")
    parents = [parent_id(span) for span in (run, outer, inner, in_thread)]
    assert parents == [DISPATCH, ids(run)[1], ids(outer)[1], ids(run)[1]]
    assert {ids(span)[0] for span in spans} == {TRACE}
    assert run.attributes is not None
    assert run.attributes["windlass.outcome"] == "completed"
    assert run.attributes["windlass.execution_id"] == stored.execution_id
    seen = [f"00-{TRACE}-{ids(span)[1]}-01" for span in (outer, inner, in_thread, run)]
    assert stored.output == seen
    checkpoints = {context for path, context in requests if "/checkpoint/" in path}
    assert checkpoints == {f"00-{TRACE}-{ids(run)[1]}-01"}


async def test_each_attempt_has_a_span_and_no_message_of_an_error_is_exported(
    server: FakeServer, workers: Workers, exported: InMemorySpanExporter
) -> None:
    await run_traced(server, workers, "retries")
    attempts = [span for span in exported.get_finished_spans() if span.name == "task flaky"]
    found = [
        (dict(span.attributes or {}).get("windlass.attempt"), span.status.is_ok)
        for span in attempts
    ]
    assert found == [(1, False), (2, True)]
    assert "a secret" not in "".join(span.to_json() for span in attempts)


async def test_a_nested_run_is_requested_in_the_context_of_its_task(
    server: FakeServer, workers: Workers, exported: InMemorySpanExporter
) -> None:
    requests = record_context(server)
    server.run_answers = [{"execution_id": "e", "state": "COMPLETED", "output": 2}]
    await run_traced(server, workers, "starts")
    contexts = [parse_traceparent(context) for path, context in requests if "/run/" in path]
    tasks = [ids(span) for span in exported.get_finished_spans() if span.name.startswith("task ")]
    assert [(c.trace_id, c.span_id) for c in contexts if c] == tasks
    assert len(tasks) == 1


@pytest.mark.parametrize("traceparent", [None, TRACEPARENT[:-2] + "00", "malformed"])
async def test_an_execution_that_is_not_traced_has_no_spans(
    server: FakeServer,
    workers: Workers,
    exported: InMemorySpanExporter,
    traceparent: str | None,
) -> None:
    requests = record_context(server)
    stored = await run_traced(server, workers, "nested", traceparent)
    assert stored.output == [None] * 4
    assert exported.get_finished_spans() == ()
    assert {context for _, context in requests} == {None}


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        TRACEPARENT.upper(),
        TRACEPARENT.replace("00-", "ff-", 1),
        f"00-{'0' * 32}-{DISPATCH}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE}-{DISPATCH}-00",
        TRACEPARENT + "\n",
    ],
)
def test_contexts_that_are_not_used(text: str | None) -> None:
    assert parse_traceparent(text) is None


@pytest.mark.parametrize(
    "change",
    [{"span_id": "x"}, {"parent_id": "0" * 16}, {"started_ns": "soon"}, {"attributes": 1}],
)
def test_a_malformed_span_of_a_child_is_refused(change: dict[str, Any]) -> None:
    members = {
        "name": "n",
        "span_id": "1" * 16,
        "parent_id": "2" * 16,
        "error": None,
        "started_ns": 1,
        "ended_ns": 2,
        "attributes": {"a": 1, "b": [1]},
    }
    record = SpanRecord.from_wire(TRACE, json.loads(json.dumps(members)))
    assert record.context.trace_id == TRACE
    assert record.attributes == {"a": 1}
    with pytest.raises((ValueError, AttributeError)):
        SpanRecord.from_wire(TRACE, {**members, **change})
