"""Waiting for somebody: the run ends, and the next one continues with what they said."""

from __future__ import annotations

from typing import Any

from windlass._call import Call
from windlass._failures import revived
from windlass._json import encode
from windlass._options import TaskOptions
from windlass._perform import finite
from windlass._replay import Failed, Resume
from windlass._run import Run
from windlass.domain.events import ExecutionEventType as E
from windlass.errors import PauseRequested
from windlass.output_storage import InlineOutputStorage, reference_of
from windlass.task import Task


async def _pause(name: str, output: Any = None) -> Any:
    """Pauses the execution until it is resumed, and returns what it is resumed with.

    `output` is shown to whoever looks at the paused execution.
    """
    raise NotImplementedError  # the signature of `_perform_pause`


async def _perform_pause(run: Run, call: Call) -> Any:
    recorded = run.replay.outcome(call.id)
    if isinstance(recorded, Failed):
        raise revived(recorded, {})
    if recorded:
        reference = reference_of(recorded.value)
        return reference.metadata.get("value") if reference else recorded.value
    name, output = call.arguments["name"], call.arguments.get("output")
    resume = run.replay.resume
    if resume and resume.call_id == call.id:
        return _resumed(run, call, name, resume)
    if not run.replay.first(E.TASK_STARTED, call.id):
        run.tell_task(E.TASK_STARTED, call.id, call.name, finite(call.arguments))
    # Told each time: whose pause a resume is for is read off the last one before it.
    run.tell_task(E.TASK_PAUSED, call.id, call.name, name)
    raise PauseRequested(name, output)


def _resumed(run: Run, call: Call, name: str, resume: Resume) -> Any:
    # Put together as text: what came in goes out, even where Python's JSON could not write it.
    body, text = resume.body, resume.text or encode(resume.body)
    if not resume.task_announced:
        value = {"name": name, "input": body}
        told = f'{{"name":{encode(name)},"input":{text}}}'
        run.tell_task(E.TASK_RESUMED, call.id, call.name, value, value_text=told)
    form = InlineOutputStorage().store(call.id, body).to_dict()
    inside = f'"reference_id":{encode(call.id)},"metadata":{{"value":{text}}}'
    kept = f'{{"storage_type":"inline",{inside}}}'
    run.tell_task(E.TASK_COMPLETED, call.id, call.name, form, value_text=kept)
    return body


pause = Task(_pause, TaskOptions(name="pause", auth_exempt=True), procedure=_perform_pause)
