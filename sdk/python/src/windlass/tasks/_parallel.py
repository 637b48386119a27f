"""The task `parallel`: awaits several calls concurrently."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from windlass._branches import (
    Branch,
    check_limit,
    close_unawaited,
    refuse_sensitive,
    run_branches,
    settle_branches,
    start_branches,
)
from windlass._failures import describe_failure, restore_failure
from windlass._options import TaskOptionNames, TaskOptions
from windlass._parking import only_awaits
from windlass._replay import Completed, Failed
from windlass._run import Run, current_scope, require_scope
from windlass._task_call import Call, ResultDecoder, TaskCall
from windlass._task_execution import TaskExecution
from windlass.errors import ExecutionError
from windlass.task import Task

if TYPE_CHECKING:
    from windlass.tasks._parallel_types import ParallelTask


class Parallel:
    """The task `parallel`: awaits several calls concurrently."""

    __windlass_task__ = True

    def __init__(self, options: TaskOptions) -> None:
        self._options = options

    async def __call__(
        self,
        *calls: Awaitable[Any],
        limit: int | None = None,
        return_exceptions: bool = False,
    ) -> Any:
        """Awaits all calls concurrently and returns their results in order.

        At most `limit` calls run at a time; None means no limit. The first failure is raised at
        once; the other branches continue to run. With `return_exceptions`, all calls end, and the
        failures are in the list in place of the results. A pause is raised only after all other
        branches have ended, so that their results are recorded first.
        """
        check_limit(limit)
        refuse_sensitive("parallel", calls)
        # The limit does not identify the call: it may change while executions are in flight. The
        # other option does, since it changes the recorded result.
        execute = _execute_settled if return_exceptions else _execute_parallel
        task = Task(_branches, self._options, procedure=partial(execute, limit))
        options = {"return_exceptions": True} if return_exceptions else {}
        return await task(*calls, **options)

    def with_options(self, **options: Unpack[TaskOptionNames]) -> Parallel:
        """Returns a copy with some options changed; see `TaskOptions`."""
        return Parallel(self._options.replace(**options))


async def _branches(*calls: Awaitable[Any], return_exceptions: bool = False) -> list[Any]:
    raise NotImplementedError  # only the signature is used; the functions below do the work


async def _execute_parallel(limit: int | None, run: Run, call: Call, options: TaskOptions) -> Any:
    @only_awaits
    async def body(*calls: Awaitable[Any]) -> list[Any]:
        return await run_branches(calls, limit)

    return await _execute(body, _Results(), limit, run, call, options)


async def _execute_settled(limit: int | None, run: Run, call: Call, options: TaskOptions) -> Any:
    """Records each branch as `{"value": …}` or `{"failure": …}`."""
    outcomes = _Outcomes([_names(branch) for branch in call.args])

    @only_awaits
    async def body(*calls: Awaitable[Any], return_exceptions: bool) -> list[Any]:
        return [_describe(branch) for branch in await settle_branches(calls, limit)]

    return await _execute(body, outcomes, limit, run, call, options)


class _Results:
    """Decodes the results of all branches."""

    def decode(self, call: Call, value: list[Any]) -> list[Any]:
        return [
            branch.decode(result) if isinstance(branch, TaskCall) else result
            for branch, result in zip(call.args, value, strict=True)
        ]


class _Outcomes:
    """Decodes the results and failures of all branches, whose `names` they are looked up in."""

    def __init__(self, names: list[Mapping[str, Any]]) -> None:
        self._names = names

    def decode(self, call: Call, value: list[Any]) -> list[Any]:
        outcomes: list[Any] = []
        for branch, outcome, names in zip(call.args, value, self._names, strict=True):
            if "failure" in outcome:
                outcomes.append(restore_failure(outcome["failure"], names))
            else:
                result = outcome["value"]
                outcomes.append(branch.decode(result) if isinstance(branch, TaskCall) else result)
        return outcomes


async def _execute(
    body: Callable[..., Any],
    decoder: ResultDecoder,
    limit: int | None,
    run: Run,
    call: Call,
    options: TaskOptions,
) -> Any:
    execution = TaskExecution(body, options, decoder, call.name, run, call, belongs_to_saga=True)
    recorded = run.replay.find_outcome(call.id)
    if recorded is not None and (require_scope().branches or _has_unfinished(recorded, call)):
        await _run_recorded_branches(recorded, call, limit)
        return await execution.execute()
    try:
        return await execution.execute()
    finally:
        close_unawaited(call.args)  # for example because the result is recorded


def _has_unfinished(recorded: Completed | Failed, call: Call) -> bool:
    """True if a branch may hold a saga: one failed, and the others were not awaited."""
    return isinstance(recorded, Failed) and not all(isinstance(arg, TaskCall) for arg in call.args)


async def _run_recorded_branches(
    recorded: Completed | Failed, call: Call, limit: int | None
) -> None:
    """Runs the branches of a recorded call again, for the compensations of sagas around and in it.

    After a failure they continue to run, as they do in the run in which the branch failed.
    """
    token = current_scope.set(replace(require_scope(), path=call.id))
    try:
        branches = start_branches(call.args, limit or max(1, len(call.args)))
    finally:
        current_scope.reset(token)
    if branches and isinstance(recorded, Completed):
        await asyncio.wait(branches)


def _describe(branch: Branch) -> dict[str, Any]:
    if branch.cancelled():
        cancelled = ExecutionError(message="an awaited operation was cancelled")
        return {"failure": describe_failure(cancelled)}
    error = branch.exception()
    if error is None:
        return {"value": branch.result()}
    return {"failure": describe_failure(error, require_scope().run.mask)}


def _names(branch: Any) -> Mapping[str, Any]:
    """Returns the globals of the code of a branch, where exception classes are looked up."""
    if isinstance(branch, TaskCall):
        return branch.names
    frame = getattr(branch, "cr_frame", None)
    return frame.f_globals if frame else {}


parallel: ParallelTask = Parallel(TaskOptions(name="parallel", auth_exempt=True))
