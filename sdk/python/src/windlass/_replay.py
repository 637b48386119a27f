"""What the log already says, so that a run need not do it again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from windlass.domain.events import ExecutionEvent
from windlass.domain.events import ExecutionEventType as E
from windlass.output_storage import parse_reference


@dataclass(frozen=True, slots=True)
class Completed:
    """A call that returned. `value` is as the log holds it: plain, or a storage reference."""

    value: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """A call that raised."""

    type: str
    message: str


@dataclass(frozen=True, slots=True)
class Resume:
    """A resume whose body no pause has taken yet. `text` is the body as it came in."""

    body: Any
    call_id: str | None
    text: str | None = None
    is_recorded: bool = False
    is_task_recorded: bool = False


class Replay:
    """The log of an execution, asked by call id."""

    def __init__(self, events: Iterable[ExecutionEvent], resume_text: str | None = None) -> None:
        self.is_started = False
        self.is_finished = False
        self.resume: Resume | None = None
        self._outcomes: dict[str, Completed | Failed] = {}
        self._results: dict[str, Any] = {}
        self._attempts: dict[str, int] = {}
        self._times: dict[tuple[str, str], str] = {}
        self._pauses: dict[str, str] = {}
        self._pausing: str | None = None
        # Of the last resume. An earlier one has no use for it: the last takes its place.
        self._resume_text = resume_text
        for event in events:
            self._apply(event)

    def find_outcome(self, call_id: str) -> Completed | Failed | None:
        """How the call ended, if it did."""
        return self._outcomes.get(call_id)

    def find_result(self, call_id: str) -> Completed | None:
        """What a retry or fallback of the call returned before its end could be recorded."""
        return Completed(self._results[call_id]) if call_id in self._results else None

    def count_failed_attempts(self, call_id: str) -> int:
        """How many attempts of the call failed, the first one included."""
        return self._attempts.get(call_id, 0)

    def find_first_time(self, type: str, call_id: str) -> str | None:
        """When the log first said this of the call; None if it never did."""
        return self._times.get((type, call_id))

    def _apply(self, event: ExecutionEvent) -> None:
        self._times.setdefault((event.type, event.source_id), event.time)
        if event.type.startswith("TASK_"):
            self._apply_task(event.type, event.source_id, event.value)
        else:
            self._apply_workflow(event.type, event.value)

    def _apply_workflow(self, type: str, value: Any) -> None:
        match type:
            case E.WORKFLOW_STARTED:
                self.is_started = True
            case E.WORKFLOW_COMPLETED | E.WORKFLOW_FAILED | E.WORKFLOW_CANCELLED:
                self.is_finished = True
            case E.WORKFLOW_PAUSED:
                # A body is for the pause that the execution rested at, not for a later one.
                self.resume = None
                name = value.get("name") if isinstance(value, dict) else None
                self._pausing = self._pauses.get(str(name))
            case E.WORKFLOW_RESUMING:
                self.resume = Resume(value, self._pausing, self._resume_text)
            case E.WORKFLOW_RESUMED if self.resume:
                self.resume = replace(self.resume, is_recorded=True)

    def _apply_task(self, type: str, call_id: str, value: Any) -> None:
        match type:
            case E.TASK_COMPLETED:
                self._outcomes[call_id] = Completed(value)
                if self.resume and self.resume.call_id == call_id:
                    self.resume = None
            case E.TASK_FAILED | E.TASK_FALLBACK_FAILED:
                self._outcomes[call_id] = _to_failed(value)
            case E.TASK_PAUSED:
                self._pauses[str(value)] = call_id
            case E.TASK_RESUMED if self.resume and self.resume.call_id == call_id:
                self.resume = replace(self.resume, is_task_recorded=True)
            case E.TASK_RETRY_FAILED:
                self._attempts[call_id] = _member(value, "current_attempt", 0) + 1
            case E.TASK_RETRY_COMPLETED:
                self._results[call_id] = _member(value, "output", None)
            case E.TASK_FALLBACK_COMPLETED:
                self._results[call_id] = value


def _to_failed(value: Any) -> Failed:
    reference = parse_reference(value)
    recorded = reference.metadata.get("value") if reference else value
    return Failed(
        str(_member(recorded, "type", "Exception")), str(_member(recorded, "message", ""))
    )


def _member(value: Any, name: str, default: Any) -> Any:
    return value.get(name, default) if isinstance(value, dict) else default
