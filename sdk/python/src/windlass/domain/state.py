"""The states of an execution."""

from __future__ import annotations

from enum import StrEnum


class ExecutionState(StrEnum):
    """Where an execution stands. The service decides; a run only proposes the last five."""

    CREATED = "CREATED"
    SCHEDULED = "SCHEDULED"
    CLAIMED = "CLAIMED"
    RESUMING = "RESUMING"
    RESUME_SCHEDULED = "RESUME_SCHEDULED"
    RESUME_CLAIMED = "RESUME_CLAIMED"
    CANCELLING = "CANCELLING"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def is_terminal(self) -> bool:
        """Nothing follows any more."""
        return self in _TERMINAL

    @property
    def is_resting(self) -> bool:
        """A run ends here: it is over, or waits for somebody."""
        return self in _TERMINAL or self is ExecutionState.PAUSED


_TERMINAL = frozenset({ExecutionState.COMPLETED, ExecutionState.FAILED, ExecutionState.CANCELLED})
