"""Sagas: undo the steps of a workflow that cannot be completed.

The compensations are recorded tasks like all others. When a worker dies while they run, the next
one replays the body up to the same failure, which is recorded, and continues with the compensation
that has no outcome yet. The list of compensations is never recorded itself: the body builds it
again. For this, branches of a recorded `parallel` run again inside of a saga, with their recorded
calls, and so do those of a `parallel` that has failed: they may contain sagas that were cancelled
then. The bodies of recorded tasks do not, and therefore cannot add compensations.

A block that is cancelled has failed, unless only another part of the workflow pauses. That shows at
the end of the run, and until then its compensations are deferred.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextvars import Token
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, ParamSpec, cast

from windlass._branches import GIVEN_UP
from windlass._policies import Retry
from windlass._run import Run, Scope, current_scope, require_scope
from windlass._task_call import TaskCall
from windlass.errors import CompensationError, ExecutionStopped, describe_error, find_pause
from windlass.task import Task

log = logging.getLogger("windlass.run")

P = ParamSpec("P")

DEFAULT_RETRY = Retry(attempts=5)
# Compensations whose calls the log lists.
MAX_LISTED = 500


class Saga:
    """Compensations of the steps that a block has made; see `saga`."""

    def __init__(self, retry: Retry) -> None:
        self._retry = retry
        self._compensations: list[tuple[Task[..., Any], tuple[Any, ...], dict[str, Any]]] = []
        self._token: Token[Scope | None] | None = None
        self._scope: Scope | None = None
        self._path = ""
        self._branches: set[asyncio.Task[Any]] = set()
        self._has_ended = False

    def add(self, compensation: Callable[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> None:
        """Adds a task that undoes a step, with its arguments; nothing runs yet.

        Added before the step, it also runs if the step fails after it had its effect; the
        compensation must then tolerate that there is nothing to undo. Raises TypeError for anything
        but a task, and RuntimeError after the block has ended, or in the body of a task or in a
        call of `first`, which do not run again after a crash.
        """
        if not isinstance(compensation, Task):
            raise TypeError(f"undo.add takes a task, not {compensation!r}; decorate it with @task")
        if self._has_ended or self._scope is None:
            raise RuntimeError("undo.add is called outside the block of its saga")
        if not any(branches is self._branches for branches in require_scope().branches):
            raise RuntimeError(
                "undo.add is called in a task or in a call of first, which do not run again after "
                "a crash; call it in the block of the saga"
            )
        self._compensations.append((cast("Task[..., Any]", compensation), args, kwargs))

    async def __aenter__(self) -> Saga:
        if self._scope is not None:
            raise RuntimeError("a saga is used once; call saga() again")
        scope = require_scope()
        # Compensations count their calls apart from the body, in which equal calls may occur.
        self._path = scope.run.assign_id(scope.path, "saga")
        self._scope = replace(scope, branches=(*scope.branches, self._branches))
        self._token = current_scope.set(self._scope)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._scope is not None
        assert self._token is not None
        current_scope.reset(self._token)
        run = self._scope.run
        continues = isinstance(error, GeneratorExit | ExecutionStopped) or run.is_closed
        if error is None or continues or find_pause(error):
            self._has_ended = True
            return
        undo = partial(self._undo, error, require_scope())
        if _may_continue(run, error):
            # Only the end of the run shows whether it fails.
            run.deferred.append(undo)
        else:
            await undo()

    async def _undo(self, error: BaseException, outer: Scope) -> None:
        token = current_scope.set(replace(outer, path=self._path, is_compensating=True))
        try:
            failures = await _finish(self._compensate(), outer.run)
        finally:
            current_scope.reset(token)
        if not failures:
            return
        summary = "; ".join(failures)
        if isinstance(error, Exception):
            message = f"{len(failures)} compensations failed: {summary}"
            raise CompensationError(message) from error
        log.error(
            "compensations of execution %s failed: %s", outer.run.context.execution_id, summary
        )

    async def _compensate(self) -> list[str]:
        """Runs all compensations, the last one first; describes those that failed."""
        while self._branches:
            # A branch that is still running may have its effect and add its compensation.
            await asyncio.wait(set(self._branches))
        self._has_ended = True
        failures: list[str] = []
        calls: list[TaskCall[Any]] = []
        for task, args, kwargs in reversed(self._compensations):
            try:
                calls.append(self._create_call(task, args, kwargs))
            except Exception as error:  # such as arguments that do not fit
                failures.append(_describe(task.name, error))
        if calls:
            # Recorded with the first one, so that the log shows which were left undone, if any are.
            require_scope().run.compensations_of[str(calls[0])] = list(map(str, calls[:MAX_LISTED]))
        for call in calls:
            try:
                await call
            except Exception as error:
                failures.append(_describe(str(call), error))
        return failures

    def _create_call(
        self, task: Task[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> TaskCall[Any]:
        has_retries = task.options.retry_policy.attempts > 1
        call = (task if has_retries else task.with_options(retry=self._retry))(*args, **kwargs)
        return cast("TaskCall[Any]", call)


def _describe(call: str, error: Exception) -> str:
    described = describe_error(error)
    return f"{call}: {described['type']}: {described['message']}"


def _may_continue(run: Run, error: BaseException) -> bool:
    """True if another part of the workflow pauses, so that the block was only interrupted."""
    return (
        isinstance(error, asyncio.CancelledError)
        and GIVEN_UP not in error.args
        and not run.is_cancelled
        and (run.is_pausing or run.guard.signal is not None)
    )


async def _finish(work: Any, run: Run) -> list[str]:
    """Awaits the compensations although the execution is cancelled meanwhile, then cancels."""
    task = asyncio.get_running_loop().create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            if run.is_closed:
                task.cancel()
                raise
            cancelled = error
    failures: list[str] = task.result()
    if cancelled is not None:
        if failures:
            log.error("compensations failed: %s", "; ".join(failures))
        raise cancelled
    return failures


def saga(*, retry: Retry = DEFAULT_RETRY) -> Saga:
    """Returns a context manager that undoes its steps if its block fails or is cancelled.

        async with saga() as undo:
            payment_id = await charge(order)
            undo.add(refund, payment_id)
            await ship(order)

    When the block raises or the execution is cancelled, the compensations run, the last one first,
    each a recorded task, all of them even if one fails. Tasks without retries of their own are
    attempted as `retry` says, by default five times. Then the exception of the block is raised
    again, or CompensationError from it if a compensation failed. A pause, a drain or a crash of the
    worker is no failure: the block continues later.
    """
    if not isinstance(retry, Retry):
        raise TypeError(f"retry must be a Retry, not {retry!r}")
    return Saga(retry)
