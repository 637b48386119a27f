"""The task `sleep`: waits for a time that survives interruptions."""

from __future__ import annotations

from datetime import datetime, timedelta

from windlass._options import TaskOptions
from windlass._parking import only_awaits
from windlass._run import require_scope
from windlass.domain.events import ExecutionEventType as E
from windlass.task import Task


@only_awaits
async def _sleep(seconds: float | timedelta) -> None:
    """Waits `seconds`. After an interruption, another worker waits only for the remaining time."""
    scope = require_scope()
    duration = seconds.total_seconds() if isinstance(seconds, timedelta) else float(seconds)
    started = scope.run.replay.find_first_time(E.TASK_STARTED, scope.call_id)
    elapsed_s = _elapsed_s(started, scope.run.environment.clock())
    await scope.run.parking.sleep(max(0.0, duration - elapsed_s))


def _elapsed_s(started: str | None, now: datetime) -> float:
    """Returns the seconds since `started`, at least 0: clocks of machines differ."""
    if started is None:
        return 0.0
    then = datetime.fromisoformat(started)
    # Events of other makers' servers may have the local time without a zone.
    return max(0.0, (now - then.astimezone()).total_seconds())


sleep = Task(_sleep, TaskOptions(name="sleep", auth_exempt=True))
