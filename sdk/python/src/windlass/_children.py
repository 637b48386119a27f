"""Tracks the asyncio tasks that an execution creates, so that none outlives it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Generator
from typing import Any

from windlass._child_tasks import ChildTasks
from windlass._run import Run, current_scope
from windlass._slices import wait_in_slices

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
    scope = current_scope.get() if context is None else context.get(current_scope)
    if scope is not None:
        run = scope.run
        (run.compensations if scope.is_compensating else run.children).add(task)
        for branches in scope.branches:
            branches.add(task)
            task.add_done_callback(branches.discard)
    return task


async def await_compensations(run: Run) -> None:
    """Waits until the compensations of a run have ended. Only a closed run cancels them."""
    while running := run.compensations.find_running():
        try:
            await asyncio.wait(running)
        except asyncio.CancelledError:
            if run.is_closed:
                await await_children(run.compensations)
                raise


async def await_children(children: ChildTasks) -> None:
    """Cancels the remaining tasks of a run and waits CLEANUP_TIMEOUT_S for them to end."""
    remaining = children.find_running() - {asyncio.current_task()}
    for task in remaining:
        task.cancel()
    if unfinished := await wait_in_slices(remaining, CLEANUP_TIMEOUT_S):
        log.warning("failed to cancel %d asyncio tasks of an execution", len(unfinished))
