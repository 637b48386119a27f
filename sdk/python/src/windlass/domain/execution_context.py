"""Execution context: the argument of a workflow's body."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from typing import Any, Generic, TypeVar, cast
from uuid import uuid4

from windlass.domain.events import ExecutionEvent, ExecutionEventType
from windlass.domain.state import ExecutionState
from windlass.errors import ExecutionContextNotFoundError

T = TypeVar("T")


class ExecutionContext(Generic[T]):
    """One execution: its input, its log and its state.

    The type parameter annotates `input`. A context without an `execution_id` gets a new one.
    """

    def __init__(
        self,
        workflow_id: str = "",
        workflow_namespace: str = "default",
        workflow_name: str = "",
        input: T | None = None,
        execution_id: str | None = None,
        state: str | None = None,
        events: Iterable[ExecutionEvent] | None = None,
        current_worker: str | None = None,
        is_transient: bool = False,
    ) -> None:
        self.execution_id = execution_id or uuid4().hex
        self.workflow_id = workflow_id
        self.workflow_namespace = workflow_namespace
        self.workflow_name = workflow_name
        self.input: T = cast("T", input)
        self.state: str = state or ExecutionState.CREATED
        self.current_worker = current_worker or ""
        self.is_transient = is_transient
        self._events = list(events or ())

    @staticmethod
    async def get() -> ExecutionContext[Any]:
        """Returns the context of the execution that the calling code belongs to.

        Raises ExecutionContextNotFoundError outside an execution.
        """
        context = current_context.get()
        if context is None:
            raise ExecutionContextNotFoundError(
                "no execution runs here; call it in a workflow or task"
            )
        return context

    @staticmethod
    def from_json(data: Mapping[str, Any] | str | bytes) -> ExecutionContext[Any]:
        """Creates a context from the members that `to_dict` returns, or the text of `to_json`.

        Raises KeyError if the execution's id or the workflow's name is missing, and ValueError for
        a text that is not a JSON object.
        """
        if isinstance(data, str | bytes):
            data = json.loads(data)
            if not isinstance(data, Mapping):
                raise ValueError("the text of a context must be a JSON object")
        return ExecutionContext(
            workflow_id=data.get("workflow_id", ""),
            workflow_namespace=data.get("workflow_namespace", "default"),
            workflow_name=data["workflow_name"],
            input=data.get("input"),
            execution_id=data["execution_id"],
            state=data.get("state"),
            events=[ExecutionEvent.from_wire(event) for event in data.get("events", ())],
            current_worker=data.get("current_worker"),
        )

    @property
    def events(self) -> tuple[ExecutionEvent, ...]:
        """Events of the log so far, oldest first."""
        return tuple(self._events)

    @property
    def output(self) -> Any:
        """Output of the workflow, `{"type", "message"}` of its failure, or None before either."""
        for event in self._events:
            if event.type in _OUTCOMES:
                return event.value
        return None

    @property
    def has_finished(self) -> bool:
        """True if the execution is COMPLETED, FAILED or CANCELLED."""
        return self.state in {
            ExecutionState.COMPLETED,
            ExecutionState.FAILED,
            ExecutionState.CANCELLED,
        }

    @property
    def has_succeeded(self) -> bool:
        """True if the execution is COMPLETED."""
        return self.state == ExecutionState.COMPLETED

    @property
    def has_failed(self) -> bool:
        """True if the execution is FAILED."""
        return self.state == ExecutionState.FAILED

    @property
    def is_paused(self) -> bool:
        """True if the execution is PAUSED: it waits to be resumed."""
        return self.state == ExecutionState.PAUSED

    @property
    def is_cancelled(self) -> bool:
        """True if the execution is CANCELLED."""
        return self.state == ExecutionState.CANCELLED

    @property
    def is_cancelling(self) -> bool:
        """True if cancellation was requested and the execution has not ended yet."""
        return self.state == ExecutionState.CANCELLING

    @property
    def has_started(self) -> bool:
        """True if the log has the start of the workflow."""
        return any(event.type == ExecutionEventType.WORKFLOW_STARTED for event in self._events)

    @property
    def has_resumed(self) -> bool:
        """True if the last event of the log is that the workflow was resumed."""
        return self._is_last(ExecutionEventType.WORKFLOW_RESUMED)

    @property
    def is_scheduled(self) -> bool:
        """True if the execution is SCHEDULED."""
        return self.state == ExecutionState.SCHEDULED

    @property
    def is_claimed(self) -> bool:
        """True if the last event of the log is the claim by a worker."""
        return self._is_last(ExecutionEventType.WORKFLOW_CLAIMED)

    @property
    def is_resuming(self) -> bool:
        """True if a worker has claimed the resume and the workflow has not continued yet."""
        return self.state == ExecutionState.RESUME_CLAIMED

    def summary(self) -> dict[str, Any]:
        """Returns the members of `to_dict` without the events."""
        return {name: value for name, value in self.to_dict().items() if name != "events"}

    def to_dict(self) -> dict[str, Any]:
        """Returns the context as JSON values; values that JSON lacks become strings."""
        members: dict[str, Any] = json.loads(self.to_json())
        return members

    def to_json(self) -> str:
        """Returns the context as indented JSON; values that JSON lacks become strings."""
        return json.dumps(
            {
                "execution_id": self.execution_id,
                "workflow_id": self.workflow_id,
                "workflow_namespace": self.workflow_namespace,
                "workflow_name": self.workflow_name,
                "input": self.input,
                "output": self.output,
                "state": self.state,
                "current_worker": self.current_worker,
                "events": [
                    {name: getattr(event, name) for name in ExecutionEvent.__slots__}
                    for event in self._events
                ],
            },
            indent=2,
            default=str,
        )

    def _is_last(self, type: ExecutionEventType) -> bool:
        return bool(self._events) and self._events[-1].type == type

    def _append(self, event: ExecutionEvent, state: ExecutionState) -> None:
        self._events.append(event)
        self.state = state


_OUTCOMES = frozenset({ExecutionEventType.WORKFLOW_COMPLETED, ExecutionEventType.WORKFLOW_FAILED})

# Context of the execution that the running code belongs to.
current_context: ContextVar[ExecutionContext[Any] | None] = ContextVar(
    "windlass_context", default=None
)
