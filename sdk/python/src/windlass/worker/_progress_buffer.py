"""Buffer of progress reports between a run and the server."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from windlass._json import encode
from windlass.errors import PayloadCodecError, UnserializableError
from windlass.worker._api import Api, Refused, Unavailable

log = logging.getLogger("windlass.worker")

MAX_PENDING = 1000
MAX_ITEMS = 50
FLUSH_TIMEOUT_S = 1.0


class ProgressBuffer:
    """Sends progress reports, one request at a time. A full buffer drops further reports."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        api: Api,
        execution_id: str,
        generation: str | None,
        wrap: Callable[[str], str] = lambda item: item,
    ) -> None:
        self._loop = loop
        self._api = api
        self._execution_id = execution_id
        self._generation = generation
        self._wrap = wrap
        self._lock = threading.Lock()
        self._pending: deque[str] = deque()
        self._sending: asyncio.Task[None] | None = None

    def add(self, call_id: str, task_name: str, value: Any) -> None:
        """Appends a report. Callable from any thread."""
        item = encode_progress(call_id, task_name, value)
        if item is not None:
            self.add_item(item)

    def add_item(self, item: str) -> None:
        """Appends a report that is JSON already. Callable from any thread."""
        with self._lock:
            if len(self._pending) >= MAX_PENDING:
                return
            self._pending.append(item)
            if len(self._pending) > 1:
                return
        self._loop.call_soon_threadsafe(self._wake)

    async def flush(self) -> None:
        """Waits up to FLUSH_TIMEOUT_S until the reports so far are sent."""
        # One turn of the loop: the run's last report may still be scheduled.
        await asyncio.sleep(0)
        if self._sending is not None:
            await asyncio.wait([self._sending], timeout=FLUSH_TIMEOUT_S)

    def _wake(self) -> None:
        if self._sending is None:
            self._sending = self._loop.create_task(self._send())

    async def _send(self) -> None:
        try:
            while items := self._take():
                body = f"[{','.join(map(self._wrap, items))}]".encode()
                await self._api.publish_progress(self._execution_id, body, self._generation)
        except (Refused, Unavailable, PayloadCodecError) as error:
            log.debug("progress of execution %s lost: %s", self._execution_id, error)
            self._pending.clear()
        finally:
            self._sending = None

    def _take(self) -> list[str]:
        with self._lock:
            return [self._pending.popleft() for _ in range(min(MAX_ITEMS, len(self._pending)))]


def encode_progress(call_id: str, task_name: str, value: Any) -> str | None:
    """Returns a report as JSON, or None if its value has no JSON form."""
    try:
        return encode({"task_id": call_id, "task_name": task_name, "value": value})
    except UnserializableError as error:
        log.warning("failed to encode progress of task %s: %s", task_name, error)
        return None
