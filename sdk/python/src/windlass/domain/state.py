"""States of an execution."""

from __future__ import annotations

from enum import StrEnum


class ExecutionState(StrEnum):
    """State of an execution. The server decides on it; a run proposes only the last five states."""

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
        """True if no further state follows."""
        return self in _TERMINAL

    @property
    def is_resting(self) -> bool:
        """True in a settled state: terminal or PAUSED. A run ends there."""
        return self in _TERMINAL or self is ExecutionState.PAUSED


_TERMINAL = frozenset({ExecutionState.COMPLETED, ExecutionState.FAILED, ExecutionState.CANCELLED})
