"""One thing after the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from windlass._options import TaskOptions
from windlass.task import Task


async def _pipeline(*tasks: Callable[[Any], Awaitable[Any]], input: Any = None) -> Any:
    """Gives `input` to the first task, its result to the next, and returns the last result."""
    value = input
    for task in tasks:
        value = await task(value)
    return value


pipeline = Task(_pipeline, TaskOptions(name="pipeline", auth_exempt=True))
