"""The task `parallel`: awaits several calls concurrently."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import Any, TypeVar, Unpack, cast

from windlass._branches import check_limit, close_unawaited, run_branches
from windlass._options import TaskOptionNames, TaskOptions
from windlass._run import Run
from windlass._task_call import Call, TaskCall
from windlass._task_execution import TaskExecution
from windlass.task import Task

T = TypeVar("T")


class Parallel:
    """The task `parallel`: awaits several calls concurrently."""

    __windlass_task__ = True

    def __init__(self, options: TaskOptions) -> None:
        self._options = options

    async def __call__(self, *calls: Awaitable[T], limit: int | None = None) -> list[T]:
        """Awaits all calls concurrently and returns their results in order.

        At most `limit` calls run at a time; None means no limit. The first failure is raised at
        once; the other branches continue to run. A pause is raised only after all other branches
        have ended, so that their results are recorded first.
        """
        check_limit(limit)
        # The limit does not identify the call: it may change while executions are in flight.
        task = Task(_branches, self._options, procedure=partial(_execute_parallel, limit))
        return cast("list[T]", await task(*calls))

    def with_options(self, **options: Unpack[TaskOptionNames]) -> Parallel:
        """Returns a copy with some options changed; see `TaskOptions`."""
        return Parallel(self._options.replace(**options))


async def _branches(*calls: Awaitable[Any]) -> list[Any]:
    raise NotImplementedError  # only the signature is used; `_execute_parallel` does the work


async def _execute_parallel(limit: int | None, run: Run, call: Call, options: TaskOptions) -> Any:
    async def body(*calls: Awaitable[Any]) -> list[Any]:
        return await run_branches(calls, limit)

    def decode(results: list[Any]) -> list[Any]:
        return [
            branch.decode(result) if isinstance(branch, TaskCall) else result
            for branch, result in zip(call.args, results, strict=True)
        ]

    try:
        return await TaskExecution(body, options, decode, call.name, run, call).execute()
    finally:
        close_unawaited(call.args)  # for example because the result is recorded


parallel = Parallel(TaskOptions(name="parallel", auth_exempt=True))
