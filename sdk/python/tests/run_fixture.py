"""Runs workflows from any log in the test's process, without a worker."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from windlass import ExecutionContext, ExecutionEvent
from windlass._children import track_children
from windlass._entry import Entry, create_entry
from windlass._lifecycle import advance_execution
from windlass._run import Run
from windlass._services import Approval, NestedRun
from windlass.domain.state import ExecutionState
from windlass.workflow import Workflow

EXECUTION_ID = "0" * 32


class RecordingJournal:
    """Journal that records entries and returns them as the server would."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def record(self, entry: Entry) -> None:
        self.entries.append(entry)

    async def wait_for_capacity(self) -> None: ...

    async def wait_until_stored(self) -> None: ...

    @property
    def events(self) -> list[ExecutionEvent]:
        return [ExecutionEvent.from_wire(json.loads(recorded.text)) for recorded in self.entries]

    @property
    def state(self) -> ExecutionState:
        return self.entries[-1].state


class FakeServices:
    """Services with answers that a test sets."""

    def __init__(self) -> None:
        self.progress_items: list[tuple[str, str, Any]] = []
        self.stored_values: dict[str, Any] = {}
        self.decisions: dict[str, Approval] = {}
        self.requested_approvals: list[tuple[str, str]] = []
        self.started: list[NestedRun] = []
        self.awaited: list[NestedRun] = []
        self.cancelled: list[str] = []

    async def fetch_secrets(
        self, names: Sequence[str], *, previous: bool = False
    ) -> dict[str, Any]:
        return {name: self.stored_values[name] for name in names}

    async def fetch_configs(self, names: Sequence[str]) -> dict[str, Any]:
        return {name: self.stored_values[name] for name in names}

    async def authorize_task(self, task_name: str) -> None: ...

    async def request_approval(self, call_id: str, task_name: str) -> str:
        self.requested_approvals.append((call_id, task_name))
        self.decisions.setdefault(call_id, Approval("pending", approval_id="a1"))
        return "created"

    async def find_approval(self, call_id: str) -> Approval | None:
        return self.decisions.get(call_id)

    async def start_workflow(self, nested: NestedRun) -> str:
        self.started.append(nested)
        return "started"

    async def run_workflow(self, nested: NestedRun, *, fails_if_paused: bool) -> Any:
        self.awaited.append(nested)
        return "called"

    async def cancel_workflow(self, execution_id: str) -> None:
        self.cancelled.append(execution_id)

    def publish_progress(self, call_id: str, task_name: str, value: Any) -> None:
        self.progress_items.append((call_id, task_name, value))


async def run_from(
    workflow: Workflow[Any, Any],
    events: Sequence[ExecutionEvent] = (),
    input: Any = None,
    services: FakeServices | None = None,
    transient: bool = False,
    version: int | None = None,
) -> RecordingJournal:
    """Runs a workflow from a log and returns the journal with the new entries."""
    asyncio.get_running_loop().set_task_factory(track_children)
    context: ExecutionContext[Any] = ExecutionContext(
        execution_id=EXECUTION_ID, workflow_name=workflow.name, input=input, events=events
    )
    journal = RecordingJournal()
    run = Run(context, journal, services or FakeServices(), transient=transient, version=version)
    await advance_execution(run, lambda: workflow.perform(context))
    return journal


def resuming(body: Any) -> ExecutionEvent:
    """Returns the event with which the server resumes an execution."""
    recorded = create_entry("WORKFLOW_RESUMING", "", "w", body, ExecutionState.RESUMING)
    return ExecutionEvent.from_wire(json.loads(recorded.text))


def pass_time(monkeypatch: pytest.MonkeyPatch, seconds: float = 3600) -> None:
    """Sets the clock of the loop forward: it runs late, as if something had blocked it."""
    loop = asyncio.get_running_loop()
    time = loop.time
    monkeypatch.setattr(loop, "time", lambda: time() + seconds)


def types(events: Sequence[ExecutionEvent]) -> list[str]:
    """Returns the types of events."""
    return [event.type for event in events]


def value(event: ExecutionEvent) -> Any:
    """Returns the value of an event, or the value inside its inline reference."""
    recorded_value = event.value
    return (
        recorded_value["metadata"]["value"]
        if isinstance(recorded_value, dict) and "metadata" in recorded_value
        else recorded_value
    )


def failure_of(recorded_failure: Any) -> dict[str, Any]:
    """Returns type and message of a recorded failure, without traceback and cause."""
    return {name: recorded_failure[name] for name in ("type", "message")}
