"""Waits whose limit does not pass while the event loop is blocked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, TypeVar

# What blocks the loop for longer than one slice costs only this one.
SLICES = 30

F = TypeVar("F", bound="asyncio.Future[Any]")


async def wait_in_slices(awaited: Iterable[F], timeout_s: float) -> set[F]:
    """Waits until all have ended, at most `timeout_s`; returns those that have not.

    Like `asyncio.wait` it cancels none of them. After a blocked loop, what has come meanwhile is
    handled before the limit passes, and what could not run gets the rest of the time.
    """
    unfinished = set(awaited)
    for _ in range(SLICES):
        if not unfinished:
            break
        _, unfinished = await asyncio.wait(unfinished, timeout=timeout_s / SLICES)
    return unfinished
