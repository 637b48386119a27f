"""Execution context: the argument of a workflow's body."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from windlass.domain.events import ExecutionEvent, ExecutionEventType
from windlass.domain.state import ExecutionState

T = TypeVar("T")


class ExecutionContext(Generic[T]):
    """One execution: its input, its log and its state.

    The type parameter annotates `input`, which is the JSON value as it was sent.
    """

    def __init__(
        self,
        *,
        execution_id: str,
        workflow_name: str,
        input: T,
        workflow_id: str = "",
        workflow_namespace: str = "default",
        state: str = ExecutionState.CREATED,
        events: Iterable[ExecutionEvent] = (),
        current_worker: str = "",
    ) -> None:
        self.execution_id = execution_id
        self.workflow_id = workflow_id
        self.workflow_namespace = workflow_namespace
        self.workflow_name = workflow_name
        self.input = input
        self.state = state
        self.current_worker = current_worker
        self._events = list(events)

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

    def _append(self, event: ExecutionEvent, state: ExecutionState) -> None:
        self._events.append(event)
        self.state = state


_OUTCOMES = frozenset({ExecutionEventType.WORKFLOW_COMPLETED, ExecutionEventType.WORKFLOW_FAILED})
