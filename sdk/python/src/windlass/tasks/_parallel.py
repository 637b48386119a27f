"""The task `parallel`: awaits several calls concurrently."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable
from dataclasses import replace
from typing import Any, TypeVar, cast

from windlass._options import TaskOptions
from windlass._run import Run, current_scope, require_scope
from windlass._task_call import Call, TaskCall
from windlass._task_execution import TaskExecution
from windlass.errors import PauseRequested
from windlass.task import Task

T = TypeVar("T")


async def parallel(*calls: Awaitable[T]) -> list[T]:
    """Awaits all calls concurrently and returns their results in order.

    The first failure is raised at once; the other branches continue to run. A pause is raised only
    after all other branches have ended, so that their results are recorded first.
    """
    return cast("list[T]", await _parallel(*calls))


async def _branches(*calls: Awaitable[Any]) -> list[Any]:
    branches = [asyncio.ensure_future(_branch(call, n)) for n, call in enumerate(calls)]
    for branch in branches:
        # Reads the exception of each branch, or asyncio would warn about unretrieved exceptions.
        # Further failures are recorded in the log.
        branch.add_done_callback(_error)
    try:
        pending = set(branches)
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_EXCEPTION)
            failed = [error for error in map(_error, done) if error]
            if failed and not all(isinstance(error, PauseRequested) for error in failed):
                break
    except asyncio.CancelledError:
        for branch in branches:
            branch.cancel()
        await asyncio.wait(branches)
        raise
    # Failures take precedence over pauses: a failed workflow must not be paused first.
    errors = [error for branch in branches if branch.done() and (error := _error(branch))]
    for error in sorted(errors, key=lambda error: isinstance(error, PauseRequested)):
        raise error
    return [branch.result() for branch in branches]


async def _branch(call: Awaitable[Any], number: int) -> Any:
    if not isinstance(call, TaskCall):
        # A branch counts its calls in a scope of its own. In a shared scope, equal calls of
        # concurrent branches could exchange their ids between runs.
        scope = require_scope()
        current_scope.set(replace(scope, path=f"{scope.path}[{number}]"))
    return await call


def _error(branch: asyncio.Future[Any]) -> BaseException | None:
    return asyncio.CancelledError() if branch.cancelled() else branch.exception()


async def _execute_parallel(run: Run, call: Call) -> Any:
    try:
        return await TaskExecution(_branches, _OPTIONS, None, "parallel", run, call).execute()
    finally:
        for awaitable in call.args:
            # The result is recorded, so the call is never awaited; without close(), Python would
            # warn.
            if _is_unawaited(awaitable):
                awaitable.close()


def _is_unawaited(awaitable: Any) -> bool:
    if isinstance(awaitable, TaskCall):
        return awaitable.is_unawaited
    return (
        inspect.iscoroutine(awaitable)
        and inspect.getcoroutinestate(awaitable) == inspect.CORO_CREATED
    )


_OPTIONS = TaskOptions(name="parallel", auth_exempt=True)
_parallel = Task(_branches, _OPTIONS, procedure=_execute_parallel)
