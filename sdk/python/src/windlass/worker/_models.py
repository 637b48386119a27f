"""Messages of the server to a worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from windlass._json import loads, slice_json
from windlass.domain.events import ExecutionEvent
from windlass.domain.events import ExecutionEventType as E
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
class Cancellation:
    """Request to cancel an execution.

    `generation` is that of the cancelled claim; earlier releases of the server do not send it.
    """

    context: ExecutionContext[Any]
    generation: str | None = None

    def distance_from(self, generation: str | None) -> int:
        """Returns by how many claims the cancelled one is later than the one with `generation`.

        Negative if it is earlier; 0 if one of them is not known.
        """
        if self.generation is None or generation is None:
            return 0
        return int(self.generation) - int(generation)


@dataclass(frozen=True, slots=True)
class Claim:
    """Execution claimed by this worker; `generation` is the fencing token of its writes.

    `text` is the JSON of the context, exactly as the server sent it.
    """

    context: ExecutionContext[Any]
    text: str
    generation: str | None = None
    exec_token: str | None = None
    # Above 1, the previous attempt crashed.
    attempt: int = 1

    @property
    def input_text(self) -> str | None:
        """The JSON of the input, or None if the log contains it."""
        types = {event.type for event in self.context.events}
        return None if E.WORKFLOW_STARTED in types else slice_json(self.text, "input")

    @property
    def resume_text(self) -> str | None:
        """The JSON of the last resume's body, or None if there was no resume."""
        types: Sequence[str] = [event.type for event in self.context.events]
        if E.WORKFLOW_RESUMING not in types:
            return None
        last = len(types) - 1 - types[::-1].index(E.WORKFLOW_RESUMING)
        return slice_json(self.text, "events", last, "value")


def parse_claim(
    text: str, generation: str | None = None, exec_token: str | None = None, attempt: int = 1
) -> Claim:
    """Creates a claim from the server's JSON."""
    return Claim(parse_context(loads(text)), text, generation, exec_token, attempt)


@dataclass(frozen=True, slots=True)
class Delivery:
    """Claim that the first checkpoint makes, within `timeout_s` of the receipt."""

    claim: Claim
    timeout_s: float
    # On the monotonic clock.
    received_at: float


@dataclass(frozen=True, slots=True)
class Assignment:
    """Execution that this worker may claim, with `delivery` also by its first checkpoint."""

    execution_id: str
    source: Source
    exec_token: str | None
    transient: bool
    runner: str | None = None
    delivery: Delivery | None = None
    # W3C trace context of the dispatch; None: the execution is not traced.
    traceparent: str | None = None


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
