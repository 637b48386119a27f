"""Concurrent branches of a workflow, with one rule for failures and pauses.

Used by `parallel`, `first`, `as_completed` and `Task.map`.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from windlass._run import current_scope, require_scope
from windlass._task_call import TaskCall
from windlass.errors import find_pause

A = TypeVar("A")
R = TypeVar("R")

Branch = asyncio.Future[Any]

# Reason of a cancel after which a branch never continues, not even in a later run.
GIVEN_UP = "another call has ended first"


def start_branches(
    calls: Sequence[Awaitable[Any]],
    limit: int,
    on_end: Callable[[Branch], object] | None = None,
) -> list[Branch]:
    """Starts all calls concurrently, at most `limit` at a time.

    `on_end` is called at the end of each branch.
    """
    loop = asyncio.get_running_loop()
    slots = asyncio.Semaphore(limit) if limit < len(calls) else None
    on_end = on_end or _error
    branches: list[Branch] = []
    for number, call in enumerate(calls):
        if isinstance(call, TaskCall) and call.is_recorded:
            branch = _end_recorded(loop, call)
            on_end(branch)
        else:
            branch = _start(loop, call, number, slots)
            # Reads the exception of each branch, or asyncio would warn about unretrieved
            # exceptions. Further failures are recorded in the log.
            branch.add_done_callback(on_end)
        branches.append(branch)
    return branches


def _end_recorded(loop: asyncio.AbstractEventLoop, call: TaskCall[Any]) -> Branch:
    """Returns the branch of a call whose outcome is in the log.

    It needs no asyncio task, which takes longer than all of the rest.
    """
    branch = loop.create_future()
    try:
        branch.set_result(call.read_recorded())
    except Exception as error:
        branch.set_exception(error)
    return branch


def _start(
    loop: asyncio.AbstractEventLoop,
    call: Awaitable[Any],
    number: int,
    slots: asyncio.Semaphore | None,
) -> Branch:
    if isinstance(call, TaskCall) and slots is None:
        return loop.create_task(call.begin())
    branch = loop.create_task(_branch(call, number, slots))
    # A branch that ends before its turn has not awaited its call, which is no mistake then.
    branch.add_done_callback(partial(_close, call))
    return branch


async def cancel_branches(branches: Sequence[Branch], reason: str | None = None) -> None:
    """Cancels the branches that still run, and waits until they have ended."""
    running = [branch for branch in branches if not branch.done()]
    for branch in running:
        branch.cancel(reason)
    if running:
        await asyncio.wait(running)


async def run_branches(calls: Sequence[Awaitable[Any]], limit: int | None = None) -> list[Any]:
    """Awaits all calls concurrently, at most `limit` at a time; returns the results in order.

    The first failure is raised at once; the other branches continue to run. A pause is raised only
    after all other branches have ended, so that their results are recorded first.
    """
    end = _End(len(calls), stops_at_failure=True)
    branches = start_branches(calls, limit or max(1, len(calls)), end.on_end)
    await end.wait(branches)
    # Failures take precedence over pauses: a failed workflow must not be paused first.
    errors = [error for branch in branches if branch.done() and (error := _error(branch))]
    for error in sorted(errors, key=lambda error: find_pause(error) is not None):
        raise error
    return [branch.result() for branch in branches]


async def settle_branches(
    calls: Sequence[Awaitable[Any]], limit: int | None = None
) -> list[Branch]:
    """Awaits all calls concurrently until each has ended; returns them in order.

    Raises a pause if a branch has paused.
    """
    end = _End(len(calls), stops_at_failure=False)
    branches = start_branches(calls, limit or max(1, len(calls)), end.on_end)
    await end.wait(branches)
    for branch in branches:
        if (error := _error(branch)) and find_pause(error):
            raise error
    return branches


async def map_items(
    task: Callable[[A], Awaitable[R]], items: Iterable[A], limit: int | None
) -> list[R]:
    """Calls a task once per item, concurrently; returns the results in item order."""
    check_limit(limit)
    calls = [task(item) for item in items]
    try:
        return await run_branches(calls, limit)
    finally:
        close_unawaited(calls)


def check_limit(limit: int | None) -> None:
    """Raises ValueError unless the limit is None or a positive integer."""
    if limit is not None and (type(limit) is not int or limit < 1):
        raise ValueError(f"limit must be a positive integer or None, not {limit!r}")


def refuse_sensitive(what: str, calls: Sequence[Any]) -> None:
    """Raises ValueError if a call or a task is sensitive: `what` would record its result."""
    for call in calls:
        options = getattr(call, "options", None)
        if getattr(call, "is_sensitive", False) or getattr(options, "sensitive", False):
            raise ValueError(
                f"{what} records the results of its calls, and {call} is sensitive; "
                "use as_completed or task.map, or await it alone"
            )


def close_unawaited(calls: Sequence[Any]) -> None:
    """Closes the calls that were never awaited; without it, Python would warn about each."""
    for call in calls:
        if _is_unawaited(call):
            call.close()


class _End:
    """End of several branches: of the last one or, with `stops_at_failure`, the first failure.

    A pause is no failure. As `asyncio.wait`, with one callback for each branch.
    """

    def __init__(self, count: int, *, stops_at_failure: bool) -> None:
        self._left = count
        self._stops_at_failure = stops_at_failure
        self._reached = asyncio.get_running_loop().create_future()
        self._reach_if(not count)

    def on_end(self, branch: Branch) -> None:
        """Is called at the end of each branch."""
        self._left -= 1
        error = None if branch.cancelled() else branch.exception()
        is_failure = error is not None and not find_pause(error)
        self._reach_if(not self._left or (is_failure and self._stops_at_failure))

    async def wait(self, branches: Sequence[Branch]) -> None:
        """Waits for the end. If it is cancelled, so are the branches."""
        try:
            if self._reached.done() and self._left:
                # The others begin, as they did in the run in which this failure was recorded.
                await asyncio.sleep(0)
            await self._reached
        except asyncio.CancelledError as error:
            await cancel_branches(branches, *error.args[:1])
            raise

    def _reach_if(self, is_reached: bool) -> None:
        if is_reached and not self._reached.done():
            self._reached.set_result(None)


async def _branch(call: Awaitable[Any], number: int, slots: asyncio.Semaphore | None) -> Any:
    if not isinstance(call, TaskCall):
        # A branch counts its calls in a scope of its own. In a shared scope, equal calls of
        # concurrent branches could exchange their ids between runs.
        scope = require_scope()
        current_scope.set(replace(scope, path=f"{scope.path}[{number}]"))
    if slots is None:
        return await call
    async with slots:
        return await call


def _error(branch: Branch) -> BaseException | None:
    return asyncio.CancelledError() if branch.cancelled() else branch.exception()


def _close(call: Any, _: Branch) -> None:
    close_unawaited([call])


def _is_unawaited(awaitable: Any) -> bool:
    if isinstance(awaitable, TaskCall):
        return awaitable.is_unawaited
    return (
        inspect.iscoroutine(awaitable)
        and inspect.getcoroutinestate(awaitable) == inspect.CORO_CREATED
    )
