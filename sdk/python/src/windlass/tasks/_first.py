"""The task `first`: awaits the call that ends first and cancels the others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any, TypeVar

from windlass._branches import (
    Branch,
    cancel_branches,
    close_unawaited,
    refuse_sensitive,
    start_branches,
)
from windlass._options import TaskOptions
from windlass._parking import only_awaits
from windlass._run import Run
from windlass._task_call import Call, TaskCall
from windlass._task_execution import TaskExecution
from windlass.errors import PauseRequested
from windlass.task import Task

T = TypeVar("T")


async def first(*calls: Awaitable[T]) -> T:
    """Returns the result of the call that ends first, or raises its failure.

    The winner is recorded and the same in every run. The other calls are cancelled, and `first`
    returns after they have ended. A call that pauses has not ended: the execution pauses once all
    others pause, too. Raises ValueError without calls.

        result = await first(fetch(url), sleep(timedelta(minutes=5)))
    """
    if not calls:
        raise ValueError("first needs at least one call")
    refuse_sensitive("first", calls)
    options = TaskOptions(name="first", auth_exempt=True)
    result: T = await Task(_calls, options, procedure=_execute_first)(*calls)
    return result


async def _calls(*calls: Awaitable[Any]) -> Any:
    raise NotImplementedError  # only the signature is used; `_execute_first` does the work


async def _execute_first(run: Run, call: Call, options: TaskOptions) -> Any:
    def decode(recorded: dict[str, Any]) -> Any:
        winner, value = call.args[recorded["winner"]], recorded["value"]
        return winner.decode(value) if isinstance(winner, TaskCall) else value

    try:
        return await TaskExecution(_race, options, decode, call.name, run, call).execute()
    finally:
        close_unawaited(call.args)  # for example because the winner is recorded


@only_awaits
async def _race(*calls: Awaitable[Any]) -> dict[str, Any]:
    branches = start_branches(calls, len(calls))
    try:
        winner = await _await_winner(branches)
        return {"winner": branches.index(winner), "value": winner.result()}
    finally:
        await cancel_branches(branches)


async def _await_winner(branches: Sequence[Branch]) -> Branch:
    """Returns the first branch that has returned or failed. Raises the pause if all others have."""
    pending = set(branches)
    while True:
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        # By position: branches whose outcome is recorded end together in a later run.
        ended = [branch for branch in branches if branch.done() and not _is_paused(branch)]
        if ended or not pending:
            return ended[0] if ended else next(iter(done))


def _is_paused(branch: Branch) -> bool:
    return not branch.cancelled() and isinstance(branch.exception(), PauseRequested)
