"""Main program of a process with another hash seed; `_other_seeds` is the other end.

It reads a request (JSON) from its input, imports the workflow, replays every beginning of the log,
and writes the first difference to its output.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import ModuleType
from typing import Any, cast

from windlass._mismatch import PAUSE_NAME
from windlass._narrow import is_object
from windlass.domain.events import ExecutionEvent
from windlass.domain.events import ExecutionEventType as E
from windlass.testing._comparison import SETTLED, TIMERS
from windlass.testing._engine import START, Engine
from windlass.workflow import Workflow


def main() -> int:
    """Answers one request."""
    # What the workflow prints must not get between the lines of the answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    request = json.load(sys.stdin)
    sys.path[:] = request["sys_path"]
    workflow: Workflow[Any, Any] = _find(request)
    with answers:
        json.dump(asyncio.run(_replay(workflow, request)), answers)
    return 0


def _find(request: Mapping[str, str]) -> Any:
    found: Any = _load(request["module"], request["file"])
    for part in request["name"].split("."):
        found = getattr(found, part)
    if not isinstance(found, Workflow):
        raise TypeError(f"{request['name']} in {request['file']} is not a workflow")
    return cast("Any", found)


def _load(name: str, file: str) -> ModuleType:
    if name == "__main__":
        # As multiprocessing names it, so that the main part of the script does not run.
        name = "__mp_main__"
    else:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
        else:
            if getattr(module, "__file__", None) == file:
                return module
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


async def _replay(workflow: Workflow[Any, Any], request: Mapping[str, Any]) -> dict[str, Any]:
    events = [ExecutionEvent.from_wire(event) for event in request["events"]]
    created = frozenset(request["created"])
    for cut in range(len(events) + 1):
        message = await _find_difference(workflow, request["input"], events[:cut], created)
        if message:
            return {"cut": cut, "message": message}
    return {}


async def _find_difference(
    workflow: Workflow[Any, Any],
    input: Any,
    events: Sequence[ExecutionEvent],
    created: frozenset[str],
) -> str:
    """Returns what the replay does otherwise, or an empty text. Nothing new runs."""
    last = events[-1] if events and events[-1].type in SETTLED else None
    log = events[:-1] if last else events
    calls: list[tuple[str, str]] = []
    is_closing = False

    def on_call(call_id: str, place: str) -> None:
        calls.append((call_id, place))

    async def hold(_: str) -> None:
        if is_closing:
            raise asyncio.CancelledError("the replay has ended")
        await asyncio.Event().wait()

    start = datetime.fromisoformat(log[-1].time) if log else START
    with Engine(start=start) as engine:
        engine.environment = replace(engine.environment, hold=hold, on_call=on_call)
        try:
            execution = await engine.continue_from(workflow, input, log)
            if execution.run.guard.list_unrequested():
                await engine.advance_until_settled(execution, TIMERS)
            output = execution.pause_output
            if execution.paused_on == PAUSE_NAME and is_object(output):
                return str(output["message"])
            for call_id, place in calls:
                if call_id not in created:
                    return (
                        f"the call {call_id} at {place} is not one of the uninterrupted execution"
                    )
            if missing := execution.run.guard.list_unrequested():
                return f"the recorded call {missing[0].id} is not made"
            has_completed = last is not None and last.type == E.WORKFLOW_COMPLETED
            if last is not None and has_completed and execution.output != last.value:
                return f"the output is {execution.output!r} instead of {last.value!r}"
        finally:
            is_closing = True
    return ""


if __name__ == "__main__":
    sys.exit(main())
