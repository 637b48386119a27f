"""The task `sleep`: waits for a time that survives interruptions."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from windlass._options import TaskOptions
from windlass._run import Run
from windlass._task_call import Call
from windlass.domain.events import ExecutionEventType as E
from windlass.output_storage import InlineOutputStorage
from windlass.task import Task


async def _sleep(seconds: float | timedelta) -> None:
    """Waits `seconds`. After an interruption, another worker waits only for the remaining time."""


async def _execute_sleep(run: Run, call: Call) -> None:
    if run.replay.find_outcome(call.id):
        return
    duration = next(iter(call.arguments.values()))
    seconds = duration.total_seconds() if isinstance(duration, timedelta) else float(duration)
    started = run.replay.find_first_time(E.TASK_STARTED, call.id)
    if started is None:
        await run.wait_for_capacity()
        run.record_task(E.TASK_STARTED, call.id, call.name, dict(call.arguments))
    await asyncio.sleep(max(0.0, seconds - _elapsed_s(started)))
    form = InlineOutputStorage().store(call.id, None).to_dict()
    run.record_task(E.TASK_COMPLETED, call.id, call.name, form)


def _elapsed_s(started: str | None) -> float:
    """Returns the seconds since `started`, at least 0: clocks of machines differ."""
    if started is None:
        return 0.0
    then = datetime.fromisoformat(started)
    now = datetime.now(UTC) if then.tzinfo else datetime.now()
    return max(0.0, (now - then).total_seconds())


sleep = Task(_sleep, TaskOptions(name="sleep", auth_exempt=True), procedure=_execute_sleep)
