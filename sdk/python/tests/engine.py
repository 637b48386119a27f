"""Runs workflows from any log, without a worker."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from windlass import ExecutionContext, ExecutionEvent
from windlass._children import adopting
from windlass._entry import Entry, entry
from windlass._inline import InlineServices
from windlass._lifecycle import advance
from windlass._run import Run
from windlass._services import Approval, Target
from windlass.domain.state import ExecutionState
from windlass.workflow import Workflow

EXECUTION_ID = "0" * 32


class Memory:
    """A journal that keeps what it is given, as the service would send it back."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def record(self, entry: Entry) -> None:
        self.entries.append(entry)

    async def room(self) -> None: ...

    @property
    def events(self) -> list[ExecutionEvent]:
        return [ExecutionEvent.from_wire(json.loads(made.text)) for made in self.entries]

    @property
    def state(self) -> ExecutionState:
        return self.entries[-1].state


class Desk(InlineServices):
    """Services that answer what a test tells them to."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, Any]] = []
        self.known: dict[str, Any] = {}
        self.decisions: dict[str, Approval] = {}
        self.asked: list[tuple[str, str]] = []
        self.calls: list[tuple[Target, Any, str, bool]] = []

    async def secrets(self, names: Sequence[str]) -> dict[str, Any]:
        return {name: self.known[name] for name in names}

    async def configs(self, names: Sequence[str]) -> dict[str, Any]:
        return {name: self.known[name] for name in names}

    async def request_approval(self, call_id: str, task_name: str) -> str:
        self.asked.append((call_id, task_name))
        self.decisions.setdefault(call_id, Approval("pending", approval_id="a1"))
        return "created"

    async def approval(self, call_id: str) -> Approval | None:
        return self.decisions.get(call_id)

    async def call(self, target: Target, input: Any, *, key: str, wait: bool) -> Any:
        self.calls.append((target, input, key, wait))
        return "called"

    def progress(self, call_id: str, task_name: str, value: Any) -> None:
        self.told.append((call_id, task_name, value))


async def run_from(
    workflow: Workflow[Any, Any],
    events: Sequence[ExecutionEvent] = (),
    input: Any = None,
    services: InlineServices | None = None,
    transient: bool = False,
) -> Memory:
    """What one run adds to the log."""
    asyncio.get_running_loop().set_task_factory(adopting)
    context: ExecutionContext[Any] = ExecutionContext(
        execution_id=EXECUTION_ID, workflow_name=workflow.name, input=input, events=events
    )
    memory = Memory()
    run = Run(context, memory, services or Desk(), transient=transient)
    await advance(run, lambda: workflow.perform(context))
    return memory


def resuming(body: Any) -> ExecutionEvent:
    """The event by which the service tells of a resume."""
    made = entry("WORKFLOW_RESUMING", "", "w", body, ExecutionState.RESUMING)
    return ExecutionEvent.from_wire(json.loads(made.text))


def types(events: Sequence[ExecutionEvent]) -> list[str]:
    """A log in short."""
    return [event.type for event in events]


def value(event: ExecutionEvent) -> Any:
    """The value of an event, or of what it refers to."""
    held = event.value
    return held["metadata"]["value"] if isinstance(held, dict) and "metadata" in held else held
