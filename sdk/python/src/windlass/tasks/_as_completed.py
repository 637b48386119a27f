"""`as_completed`: results of concurrent calls in the order in which they end."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Generic, TypeVar

from windlass._branches import Branch, cancel_branches, check_limit, start_branches
from windlass._options import TaskOptions
from windlass._parking import only_awaits
from windlass._run import current_scope, require_scope
from windlass._signature import Signature
from windlass._task_call import identify_call
from windlass.errors import PauseRequested, find_pause
from windlass.task import Task

T = TypeVar("T")


def as_completed(
    calls: Iterable[Awaitable[T]], *, limit: int | None = None
) -> AsyncIterator[Awaitable[T]]:
    """Iterates over concurrent calls in the order in which they end, as `asyncio.as_completed`.

    Each item is awaited for the result or the failure of its call. At most `limit` calls run at a
    time; they start with the first iteration. The order is recorded, and the same in every run. A
    call that pauses comes last: the execution pauses when only such calls are left.

        async for page in as_completed([fetch(url) for url in urls], limit=8):
            index(await page)
    """
    check_limit(limit)
    return _AsCompleted(list(calls), limit)


class _AsCompleted(Generic[T]):
    def __init__(self, calls: list[Awaitable[T]], limit: int | None) -> None:
        scope = require_scope()
        signature = Signature(_calls)
        call = identify_call(scope, "as_completed", signature, calls, {})
        self._scope = replace(scope, path=call.id)
        self._calls = calls
        self._limit = limit or max(1, len(calls))
        self._branches: list[Branch] | None = None
        self._ended: deque[int] = deque()
        self._has_ended = asyncio.Event()
        self._yielded: set[int] = set()
        options = TaskOptions(name="as_completed", auth_exempt=True)
        self._next = Task(self._await_next, options)

    def __aiter__(self) -> AsyncIterator[Awaitable[T]]:
        return self

    async def __anext__(self) -> Awaitable[T]:
        if len(self._yielded) == len(self._calls):
            raise StopAsyncIteration
        token = current_scope.set(self._scope)
        try:
            if self._branches is None:
                self._branches = start_branches(self._calls, self._limit)
                for number, branch in enumerate(self._branches):
                    branch.add_done_callback(partial(self._on_end, number))
            # Recorded, so that a later run iterates in the same order.
            number = await self._next(len(self._yielded))
        except asyncio.CancelledError as error:
            await cancel_branches(self._branches or [], *error.args[:1])
            raise
        finally:
            current_scope.reset(token)
        self._yielded.add(number)
        return self._branches[number]

    def _on_end(self, number: int, branch: Branch) -> None:
        self._ended.append(number)
        self._has_ended.set()

    @only_awaits
    async def _await_next(self, position: int) -> int:
        """Returns the number of the next branch that has ended and was not yielded yet."""
        branches = self._branches or []
        while True:
            self._has_ended.clear()
            left = [number for number in self._ended if number not in self._yielded]
            for number in left:
                if not _pause(branches[number]):
                    return number
            if len(left) + len(self._yielded) == len(branches):
                pause = _pause(branches[left[0]])
                assert pause is not None
                raise pause
            await self._has_ended.wait()


async def _calls(*calls: Awaitable[Any]) -> None:
    raise NotImplementedError  # only the signature is used


def _pause(branch: Branch) -> PauseRequested | None:
    error = None if branch.cancelled() else branch.exception()
    return None if error is None else find_pause(error)
