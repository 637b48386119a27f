"""The task `first`: awaits the call that ends first and cancels the others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any, TypeVar, overload

from windlass._branches import (
    GIVEN_UP,
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
from windlass.errors import find_pause
from windlass.task import Task

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")
G = TypeVar("G")
H = TypeVar("H")
I = TypeVar("I")  # noqa: E741
J = TypeVar("J")


@overload
async def first(a: Awaitable[A], b: Awaitable[B], /) -> A | B: ...
@overload
async def first(a: Awaitable[A], b: Awaitable[B], c: Awaitable[C], /) -> A | B | C: ...
@overload
async def first(
    a: Awaitable[A], b: Awaitable[B], c: Awaitable[C], d: Awaitable[D], /
) -> A | B | C | D: ...
@overload
async def first(
    a: Awaitable[A], b: Awaitable[B], c: Awaitable[C], d: Awaitable[D], e: Awaitable[E], /
) -> A | B | C | D | E: ...
@overload
async def first(
    a: Awaitable[A],
    b: Awaitable[B],
    c: Awaitable[C],
    d: Awaitable[D],
    e: Awaitable[E],
    f: Awaitable[F],
    /,
) -> A | B | C | D | E | F: ...
@overload
async def first(
    a: Awaitable[A],
    b: Awaitable[B],
    c: Awaitable[C],
    d: Awaitable[D],
    e: Awaitable[E],
    f: Awaitable[F],
    g: Awaitable[G],
    /,
) -> A | B | C | D | E | F | G: ...
@overload
async def first(
    a: Awaitable[A],
    b: Awaitable[B],
    c: Awaitable[C],
    d: Awaitable[D],
    e: Awaitable[E],
    f: Awaitable[F],
    g: Awaitable[G],
    h: Awaitable[H],
    /,
) -> A | B | C | D | E | F | G | H: ...
@overload
async def first(
    a: Awaitable[A],
    b: Awaitable[B],
    c: Awaitable[C],
    d: Awaitable[D],
    e: Awaitable[E],
    f: Awaitable[F],
    g: Awaitable[G],
    h: Awaitable[H],
    i: Awaitable[I],
    /,
) -> A | B | C | D | E | F | G | H | I: ...
@overload
async def first(
    a: Awaitable[A],
    b: Awaitable[B],
    c: Awaitable[C],
    d: Awaitable[D],
    e: Awaitable[E],
    f: Awaitable[F],
    g: Awaitable[G],
    h: Awaitable[H],
    i: Awaitable[I],
    j: Awaitable[J],
    /,
) -> A | B | C | D | E | F | G | H | I | J: ...
@overload
async def first(*calls: Awaitable[T]) -> T: ...
async def first(*calls: Awaitable[Any]) -> Any:
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
    return await Task(_calls, options, procedure=_execute_first)(*calls)


async def _calls(*calls: Awaitable[Any]) -> Any:
    raise NotImplementedError  # only the signature is used; `_execute_first` does the work


async def _execute_first(run: Run, call: Call, options: TaskOptions) -> Any:
    try:
        return await TaskExecution(_race, options, _Winner(), call.name, run, call).execute()
    finally:
        close_unawaited(call.args)  # for example because the winner is recorded


class _Winner:
    """Decodes the result of the winner."""

    def decode(self, call: Call, value: dict[str, Any]) -> Any:
        winner, result = call.args[value["winner"]], value["value"]
        return winner.decode(result) if isinstance(winner, TaskCall) else result


@only_awaits
async def _race(*calls: Awaitable[Any]) -> dict[str, Any]:
    branches = start_branches(calls, len(calls))
    try:
        winner = await _await_winner(branches)
        return {"winner": branches.index(winner), "value": winner.result()}
    except asyncio.CancelledError as error:
        await cancel_branches(branches, *error.args[:1])
        raise
    finally:
        await cancel_branches(branches, GIVEN_UP)


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
    error = None if branch.cancelled() else branch.exception()
    return error is not None and find_pause(error) is not None
