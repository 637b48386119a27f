"""The task `pipeline`: runs tasks one after another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from windlass._branches import refuse_sensitive
from windlass._options import TaskOptions
from windlass._parking import only_awaits
from windlass._task_call import Call
from windlass.task import Task


@only_awaits
async def _pipeline(*tasks: Callable[[Any], Awaitable[Any]], input: Any = None) -> Any:
    """Passes `input` to the first task and each result to the next; returns the last result."""
    refuse_sensitive("pipeline", tasks)
    value = input
    for task in tasks:
        value = await task(value)
    return value


def _decode(call: Call, value: Any) -> Any:
    last = call.args[-1] if call.args else None
    return last.decode(call, value) if isinstance(last, Task) else value


pipeline = Task(_pipeline, TaskOptions(name="pipeline", auth_exempt=True), decode=_decode)
