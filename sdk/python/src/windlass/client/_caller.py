"""Caller of the synchronous client: runs an AsyncClient in an event loop and thread of its own.

So both clients have one implementation, a `Client` may be shared by all threads of a process, and
it works where an event loop is already running, as in notebooks. A process that was forked, as by
Celery or Gunicorn, gets a new loop and new connections with its first request.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, TypeVar

from windlass.client._async_client import AsyncClient

T = TypeVar("T")

CLOSE_S = 10.0


class Caller:
    """Runs coroutines of one AsyncClient in the client's thread."""

    def __init__(self, create: Callable[[], AsyncClient]) -> None:
        self._create = create
        self._lock = threading.Lock()
        self._pid = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: AsyncClient | None = None
        create()  # so that wrong arguments are refused at once

    def call(self, func: Callable[[AsyncClient], Coroutine[Any, Any, T]]) -> T:
        """Returns the result of a coroutine of the client."""
        with self._lock:
            loop, client = self._ensure_started()
        future = asyncio.run_coroutine_threadsafe(func(client), loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def iterate(self, func: Callable[[AsyncClient], AsyncIterator[T]]) -> Iterator[T]:
        """Yields the items of an asynchronous iterator of the client."""
        with self._lock:
            _, client = self._ensure_started()
        items = func(client)
        end: Any = object()

        async def step() -> T:
            return await anext(items, end)

        async def close() -> None:
            await items.aclose()  # type: ignore[attr-defined]

        try:
            while (item := self.call(lambda _: step())) is not end:
                yield item
        finally:
            self.call(lambda _: close())

    def close(self) -> None:
        """Closes all connections and ends the thread."""
        atexit.unregister(self.close)
        with self._lock:
            loop, client, self._loop = self._loop, self._client, None
        if loop is None or client is None or self._pid != os.getpid():
            return
        asyncio.run_coroutine_threadsafe(client.close(), loop).result(CLOSE_S)
        loop.call_soon_threadsafe(loop.stop)

    def _ensure_started(self) -> tuple[asyncio.AbstractEventLoop, AsyncClient]:
        if self._loop is None or self._client is None or self._pid != os.getpid():
            self._pid = os.getpid()
            atexit.unregister(self.close)
            atexit.register(self.close)
            self._loop, self._client = asyncio.new_event_loop(), self._create()
            threading.Thread(
                target=_run_loop, args=(self._loop,), name="windlass-client", daemon=True
            ).start()
        return self._loop, self._client


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()
