"""The task `pause`: ends the run and continues with the resume body in the next one."""

from __future__ import annotations

from typing import Any, ParamSpec, Unpack, cast

from windlass._failures import restore_failure
from windlass._json import encode
from windlass._options import TaskOptionNames, TaskOptions
from windlass._replay import Failed, Resume
from windlass._run import Run
from windlass._task_call import Call
from windlass._task_execution import to_recordable
from windlass.domain.events import ExecutionEventType as E
from windlass.errors import PauseRequested
from windlass.output_storage import InlineOutputStorage, parse_reference
from windlass.task import Task

P = ParamSpec("P")


async def _pause(name: str, output: Any = None) -> Any:
    """Pauses the execution until it is resumed; returns the body of the resume request.

    `name` identifies the pause to readers of the execution; `output`, a JSON value, is shown with
    it. The execution occupies no worker while it is paused.
    """
    raise NotImplementedError  # only the signature is used; `_execute_pause` does the work


async def _execute_pause(run: Run, call: Call, options: TaskOptions) -> Any:
    recorded = run.replay.find_outcome(call.id)
    if isinstance(recorded, Failed):
        raise restore_failure(recorded, {})
    if recorded:
        reference = parse_reference(recorded.value)
        return reference.metadata.get("value") if reference else recorded.value
    name, output = call.arguments["name"], call.arguments.get("output")
    resume = run.replay.resume
    if resume and resume.call_id == call.id:
        return _record_resumed(run, call, name, resume)
    if not run.replay.find_first_time(E.TASK_STARTED, call.id):
        run.record_task(E.TASK_STARTED, call.id, call.name, to_recordable(call.arguments))
    # Recorded in each run: a resume belongs to the last TASK_PAUSED before WORKFLOW_PAUSED.
    run.record_task(E.TASK_PAUSED, call.id, call.name, name)
    raise PauseRequested(name, output)


def _record_resumed(run: Run, call: Call, name: str, resume: Resume) -> Any:
    # Spliced as text: the body is recorded unchanged, even if Python cannot encode it again.
    body, text = resume.body, resume.text or encode(resume.body)
    if not resume.is_task_recorded:
        value = {"name": name, "input": body}
        resumed_text = f'{{"name":{encode(name)},"input":{text}}}'
        run.record_task(E.TASK_RESUMED, call.id, call.name, value, value_text=resumed_text)
    form = InlineOutputStorage().store(call.id, body).to_dict()
    members = f'"reference_id":{encode(call.id)},"metadata":{{"value":{text}}}'
    completed_text = f'{{"storage_type":"inline",{members}}}'
    run.record_task(E.TASK_COMPLETED, call.id, call.name, form, value_text=completed_text)
    return body


class Pause(Task[P, Any]):
    """The task `pause`. A pause has no attempts and no result of its own to store."""

    def with_options(self, **options: Unpack[TaskOptionNames]) -> Pause[P]:
        """Returns a pause under another `name` in the log; other options are a ValueError."""
        for name in options:
            if name != "name":
                raise ValueError(f"pause does not take the option {name}")
        return cast("Pause[P]", super().with_options(**options))


pause = Pause(_pause, TaskOptions(name="pause", auth_exempt=True), procedure=_execute_pause)
