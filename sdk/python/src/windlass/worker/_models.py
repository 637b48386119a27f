"""Messages of the server to a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windlass.domain.events import ExecutionEvent
from windlass.domain.execution_context import ExecutionContext


@dataclass(frozen=True, slots=True)
class Ping:
    """Request for a pong, which shows that the worker is alive."""


@dataclass(frozen=True, slots=True)
class Source:
    """Uploaded source of a workflow."""

    id: str
    namespace: str
    name: str
    version: int
    base64: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """Execution that this worker may claim."""

    execution_id: str
    source: Source
    exec_token: str | None
    transient: bool


@dataclass(frozen=True, slots=True)
class Cancellation:
    """Request to cancel an execution."""

    context: ExecutionContext[Any]


@dataclass(frozen=True, slots=True)
class Claim:
    """Execution claimed by this worker; `generation` is the fencing token of its writes.

    `input_text` and `resume_text` are the JSON of the input and of the last resume's body, exactly
    as the server sent them.
    """

    context: ExecutionContext[Any]
    input_text: str | None
    resume_text: str | None
    generation: str | None
    exec_token: str | None = None


Message = Ping | Assignment | Cancellation


def parse_context(members: Mapping[str, Any]) -> ExecutionContext[Any]:
    """Creates an execution context from the server's JSON."""
    return ExecutionContext(
        execution_id=members["execution_id"],
        workflow_id=members.get("workflow_id") or "",
        workflow_namespace=members.get("workflow_namespace") or "default",
        workflow_name=members["workflow_name"],
        input=members.get("input"),
        state=members["state"],
        events=[ExecutionEvent.from_wire(event) for event in members.get("events") or ()],
        current_worker=members.get("current_worker") or "",
    )
