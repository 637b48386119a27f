"""What a workflow's body knows about its execution."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from windlass.domain.events import ExecutionEvent, ExecutionEventType
from windlass.domain.state import ExecutionState

T = TypeVar("T")


class ExecutionContext(Generic[T]):
    """One execution: its input, its log, and what follows from them.

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
        """The log so far, oldest entry first."""
        return tuple(self._events)

    @property
    def output(self) -> Any:
        """What the workflow returned, or `{"type", "message"}` of its failure; None before that."""
        for event in self._events:
            if event.type in _OUTCOMES:
                return event.value
        return None

    @property
    def has_finished(self) -> bool:
        """It completed, failed or was cancelled."""
        return self.state in {
            ExecutionState.COMPLETED,
            ExecutionState.FAILED,
            ExecutionState.CANCELLED,
        }

    @property
    def has_succeeded(self) -> bool:
        """It completed."""
        return self.state == ExecutionState.COMPLETED

    @property
    def has_failed(self) -> bool:
        """It failed."""
        return self.state == ExecutionState.FAILED

    @property
    def is_paused(self) -> bool:
        """It waits to be resumed."""
        return self.state == ExecutionState.PAUSED

    @property
    def is_cancelled(self) -> bool:
        """It was cancelled."""
        return self.state == ExecutionState.CANCELLED

    @property
    def is_cancelling(self) -> bool:
        """Somebody asked to cancel it, and it has not ended yet."""
        return self.state == ExecutionState.CANCELLING

    def to_json(self) -> str:
        """The context as readable text."""
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
