"""Events of an execution's log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from windlass.domain.state import ExecutionState

__all__ = ["ExecutionEvent", "ExecutionEventType", "ExecutionState"]


class ExecutionEventType(StrEnum):
    """Types of events."""

    WORKFLOW_SCHEDULED = "WORKFLOW_SCHEDULED"
    WORKFLOW_CLAIMED = "WORKFLOW_CLAIMED"
    WORKFLOW_STARTED = "WORKFLOW_STARTED"
    WORKFLOW_COMPLETED = "WORKFLOW_COMPLETED"
    WORKFLOW_FAILED = "WORKFLOW_FAILED"
    WORKFLOW_PAUSED = "WORKFLOW_PAUSED"
    WORKFLOW_RESUMING = "WORKFLOW_RESUMING"
    WORKFLOW_RESUME_SCHEDULED = "WORKFLOW_RESUME_SCHEDULED"
    WORKFLOW_RESUME_CLAIMED = "WORKFLOW_RESUME_CLAIMED"
    WORKFLOW_RESUMED = "WORKFLOW_RESUMED"
    WORKFLOW_CANCELLING = "WORKFLOW_CANCELLING"
    WORKFLOW_CANCELLED = "WORKFLOW_CANCELLED"

    TASK_STARTED = "TASK_STARTED"
    TASK_COMPLETED = "TASK_COMPLETED"
    TASK_FAILED = "TASK_FAILED"
    TASK_PAUSED = "TASK_PAUSED"
    TASK_RESUMED = "TASK_RESUMED"
    TASK_PROGRESS = "TASK_PROGRESS"
    TASK_AWAITING_APPROVAL = "TASK_AWAITING_APPROVAL"
    TASK_APPROVED = "TASK_APPROVED"
    TASK_REJECTED = "TASK_REJECTED"
    TASK_RETRY_STARTED = "TASK_RETRY_STARTED"
    TASK_RETRY_COMPLETED = "TASK_RETRY_COMPLETED"
    TASK_RETRY_FAILED = "TASK_RETRY_FAILED"
    TASK_FALLBACK_STARTED = "TASK_FALLBACK_STARTED"
    TASK_FALLBACK_COMPLETED = "TASK_FALLBACK_COMPLETED"
    TASK_FALLBACK_FAILED = "TASK_FALLBACK_FAILED"
    TASK_ROLLBACK_STARTED = "TASK_ROLLBACK_STARTED"
    TASK_ROLLBACK_COMPLETED = "TASK_ROLLBACK_COMPLETED"
    TASK_ROLLBACK_FAILED = "TASK_ROLLBACK_FAILED"


@dataclass(frozen=True, slots=True)
class ExecutionEvent:
    """One event of the log.

    Attributes:
        type: an ExecutionEventType, or the type of a newer server that is unknown here.
        source_id: id of the call for task events; otherwise the execution or the worker.
        name: name of the task, workflow or worker.
        value: data of the event, such as arguments, a result or a failure.
        time: ISO 8601 text.
        id: id of the event; the log contains each id once.
        subject: None; reserved for the principal that caused the event.
    """

    type: str
    source_id: str
    name: str
    value: Any
    time: str
    id: str
    subject: str | None = None

    @classmethod
    def from_wire(cls, members: Mapping[str, Any]) -> ExecutionEvent:
        """Creates an event from the server's JSON; unknown members are ignored."""
        return cls(
            type=members["type"],
            source_id=members["source_id"],
            name=members["name"],
            value=members.get("value"),
            time=members.get("time") or "",
            id=members.get("id") or "",
            subject=members.get("subject"),
        )
