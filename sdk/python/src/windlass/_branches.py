"""Concurrent branches of a workflow, with one rule for failures and pauses.

Used by `parallel`, `first`, `as_completed` and `Task.map`.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from windlass._run import current_scope, require_scope
from windlass._task_call import TaskCall
from windlass.errors import PauseRequested

Branch = asyncio.Future[Any]


def start_branches(calls: Sequence[Awaitable[Any]], limit: int) -> list[Branch]:
    """Starts all calls concurrently, at most `limit` at a time."""
    slots = asyncio.Semaphore(limit)
    branches: list[Branch] = [
        asyncio.ensure_future(_branch(call, n, slots)) for n, call in enumerate(calls)
    ]
    for branch, call in zip(branches, calls, strict=True):
        # Reads the exception of each branch, or asyncio would warn about unretrieved exceptions.
        # Further failures are recorded in the log.
        branch.add_done_callback(_error)
        # A branch that ends before its turn has not awaited its call, which is no mistake then.
        branch.add_done_callback(partial(_close, call))
    return branches


async def cancel_branches(branches: Sequence[Branch]) -> None:
    """Cancels the branches that still run, and waits until they have ended."""
    running = [branch for branch in branches if not branch.done()]
    for branch in running:
        branch.cancel()
    if running:
        await asyncio.wait(running)


async def run_branches(calls: Sequence[Awaitable[Any]], limit: int | None = None) -> list[Any]:
    """Awaits all calls concurrently, at most `limit` at a time; returns the results in order.

    The first failure is raised at once; the other branches continue to run. A pause is raised only
    after all other branches have ended, so that their results are recorded first.
    """
    branches = start_branches(calls, limit or max(1, len(calls)))
    await _await_branches(branches, asyncio.FIRST_EXCEPTION)
    # Failures take precedence over pauses: a failed workflow must not be paused first.
    errors = [error for branch in branches if branch.done() and (error := _error(branch))]
    for error in sorted(errors, key=lambda error: isinstance(error, PauseRequested)):
        raise error
    return [branch.result() for branch in branches]


async def settle_branches(
    calls: Sequence[Awaitable[Any]], limit: int | None = None
) -> list[Branch]:
    """Awaits all calls concurrently until each has ended; returns them in order.

    Raises a pause if a branch has paused.
    """
    branches = start_branches(calls, limit or max(1, len(calls)))
    await _await_branches(branches, asyncio.ALL_COMPLETED)
    for branch in branches:
        if isinstance(error := _error(branch), PauseRequested):
            raise error
    return branches


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


async def _await_branches(branches: Sequence[Branch], until: str) -> None:
    """Waits until all branches have ended or, if so asked, one has failed."""
    pending = set(branches)
    try:
        while pending:
            done, pending = await asyncio.wait(pending, return_when=until)
            failed = [error for error in map(_error, done) if error]
            if failed and not all(isinstance(error, PauseRequested) for error in failed):
                return
    except asyncio.CancelledError:
        await cancel_branches(branches)
        raise


async def _branch(call: Awaitable[Any], number: int, slots: asyncio.Semaphore) -> Any:
    if not isinstance(call, TaskCall):
        # A branch counts its calls in a scope of its own. In a shared scope, equal calls of
        # concurrent branches could exchange their ids between runs.
        scope = require_scope()
        current_scope.set(replace(scope, path=f"{scope.path}[{number}]"))
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
