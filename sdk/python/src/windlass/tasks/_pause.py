"""The task `pause`: ends the run and continues with the resume body in the next one."""

from __future__ import annotations

from collections.abc import Coroutine
from functools import partial
from typing import Any, TypeVar, Unpack, overload

from windlass._decode import Decoder
from windlass._failures import restore_failure
from windlass._json import encode_for_display
from windlass._options import TaskOptionNames, TaskOptions
from windlass._replay import Failed
from windlass._resumes import record_resumed
from windlass._run import Run
from windlass._task_call import Call
from windlass._task_execution import to_recordable
from windlass.domain.events import ExecutionEventType as E
from windlass.errors import PauseRequested, ValueMismatchError
from windlass.output_storage import parse_reference
from windlass.task import Task

T = TypeVar("T")


async def _pause(name: str, output: Any = None) -> Any:
    raise NotImplementedError  # only the signature is used; `_execute_pause` does the work


async def _execute_pause(decoder: Decoder, run: Run, call: Call, options: TaskOptions) -> Any:
    what = f"the body with which {call.name} was resumed"
    recorded = run.replay.find_outcome(call.id)
    if isinstance(recorded, Failed):
        raise restore_failure(recorded.failure, {})
    if recorded:
        reference = parse_reference(recorded.value)
        return decoder(reference.metadata.get("value") if reference else recorded.value, what)
    name, output = call.arguments["name"], call.arguments.get("output")
    resume = run.replay.resume
    refused = None
    if resume and resume.call_id == call.id:
        try:
            value = decoder(resume.body, what)
        except ValueMismatchError as error:
            refused = error.message
        else:
            record_resumed(run, call.id, call.name, name, resume)
            return value
    async with run.guard.entering(call.id):
        if not run.replay.find_first_time(E.TASK_STARTED, call.id):
            value = to_recordable(call.arguments)
            text = encode_for_display(value)
            run.record_task(E.TASK_STARTED, call.id, call.name, value, value_text=text)
        # Recorded in each run: a resume belongs to the last TASK_PAUSED before WORKFLOW_PAUSED.
        run.record_task(E.TASK_PAUSED, call.id, call.name, name)
        run.is_pausing = True
        raise PauseRequested(name, output, refused)


class Pause:
    """The task `pause`. A pause has no attempts and no result of its own to store."""

    __windlass_task__ = True

    def __init__(self, options: TaskOptions) -> None:
        self._options = options

    @overload
    def __call__(self, name: str, output: Any = None) -> Coroutine[None, None, Any]: ...
    @overload
    def __call__(
        self, name: str, output: Any = None, *, type: type[T]
    ) -> Coroutine[None, None, T]: ...
    def __call__(self, *args: Any, type: Any = Any, **kwargs: Any) -> Coroutine[None, None, Any]:
        """Pauses the execution until it is resumed; returns the body of the resume request.

        The first argument, `name`, identifies the pause to readers of the execution; the second,
        `output`, a JSON value, is shown with it. The body is decoded as `type`; one that does not
        fit pauses the execution again, with the reason in the member `refused` of the pause. The
        execution occupies no worker while it is paused.
        """
        # The type does not identify the call: it may change while executions are in flight.
        decoder = Decoder(type)
        task = Task(_pause, self._options, procedure=partial(_execute_pause, decoder))
        return task(*args, **kwargs)

    def with_options(self, **options: Unpack[TaskOptionNames]) -> Pause:
        """Returns a pause under another `name` in the log; other options are a ValueError."""
        for name in options:
            if name != "name":
                raise ValueError(f"pause does not take the option {name}")
        return Pause(self._options.replace(**options))


pause = Pause(TaskOptions(name="pause", auth_exempt=True))
