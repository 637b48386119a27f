"""Tracks the asyncio tasks that an execution creates, so that none outlives it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Generator
from typing import Any

from windlass._run import current

log = logging.getLogger("windlass.run")

CLEANUP_TIMEOUT_S = 5.0


def track_children(
    loop: asyncio.AbstractEventLoop,
    coroutine: Coroutine[Any, Any, Any] | Generator[Any, None, Any],
    **options: Any,
) -> asyncio.Task[Any]:
    """Task factory of the event loop: a task created inside a run becomes a child of that run."""
    task = asyncio.Task(coroutine, loop=loop, **options)
    context = options.get("context")
    scope = current.get() if context is None else context.get(current)
    if scope is not None:
        scope.run.children.add(task)
        task.add_done_callback(scope.run.children.discard)
    return task


async def await_children(children: set[asyncio.Task[Any]]) -> None:
    """Cancels the remaining tasks of a run and waits CLEANUP_TIMEOUT_S for them to end."""
    left = children - {asyncio.current_task()}
    for task in left:
        task.cancel()
    if left:
        _, stuck = await asyncio.wait(left, timeout=CLEANUP_TIMEOUT_S)
        if stuck:
            log.warning("failed to cancel %d asyncio tasks of an execution", len(stuck))
