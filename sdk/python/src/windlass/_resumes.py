"""Records that the body of a resume has reached its pause."""

from __future__ import annotations

from typing import Any, Protocol

from windlass._json import encode
from windlass._replay import Resume
from windlass.domain.events import ExecutionEventType as E
from windlass.output_storage import inline_result


class Recorder(Protocol):
    """Run that records events of calls."""

    def record_task(
        self, type: E, call_id: str, name: str, value: Any, *, value_text: str | None = None
    ) -> None:
        """Records an event of a call."""


def record_resumed(run: Recorder, call_id: str, task_name: str, pause: str, resume: Resume) -> None:
    """Records TASK_RESUMED, unless an earlier run has, and TASK_COMPLETED with the body."""
    # Spliced as text: the body is recorded unchanged, even if Python cannot encode it again.
    body, text = resume.body, resume.text or encode(resume.body)
    if not resume.is_task_recorded:
        value = {"name": pause, "input": body}
        resumed_text = f'{{"name":{encode(pause)},"input":{text}}}'
        run.record_task(E.TASK_RESUMED, call_id, task_name, value, value_text=resumed_text)
    form, completed_text = inline_result(call_id, body, text)
    run.record_task(E.TASK_COMPLETED, call_id, task_name, form, value_text=completed_text)
