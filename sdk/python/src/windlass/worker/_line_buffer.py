"""Buffer of captured lines between a run and the server."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

from windlass._backoff import backoff
from windlass._json import encode
from windlass.errors import PayloadCodecError
from windlass.worker._api import Api, Refused, Unavailable

log = logging.getLogger("windlass.worker")

# Below the server's limits for a request: 500 lines, 256 KiB.
BATCH_LINES = 400
BATCH_BYTES = 192 * 1024
# Of the lines that the server has not taken yet. Further ones are lost, and counted.
MAX_PENDING_BYTES = 2 * 1024 * 1024
# Lines that follow within this time share a request.
DELAY_S = 0.1
FLUSH_TIMEOUT_S = 5.0
FIRST_RETRY_S = 0.5
MAX_RETRY_S = 10.0


class LineBuffer:
    """Sends captured lines in order, one request at a time.

    Each line has a number, so a request that is repeated stores nothing twice. While the server is
    unavailable, requests are repeated; after MAX_PENDING_BYTES lines are dropped, and a line says
    how many, also of those that cannot be encoded.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        api: Api,
        execution_id: str,
        generation: str | None,
        wrap: Callable[[str], str] = lambda line: line,
    ) -> None:
        self._loop = loop
        self._api = api
        self._execution_id = execution_id
        self._generation = generation
        self._wrap = wrap
        self._lock = threading.Lock()
        self._pending: deque[str] = deque()
        self._pending_bytes = 0
        self._lost = 0
        self._next_number = 0
        self._is_closed = False
        self._is_flushing = False
        self._timer: asyncio.TimerHandle | None = None
        self._sending: asyncio.Task[None] | None = None

    def add(self, line: str) -> None:
        """Appends a line, given as JSON. Callable from any thread."""
        try:
            line = self._wrap(line)
        except PayloadCodecError as error:
            log.debug("a line of execution %s is lost: %s", self._execution_id, error)
            with self._lock:
                self._lost += 1
            return
        with self._lock:
            if self._is_closed:
                return
            if self._pending_bytes > MAX_PENDING_BYTES:
                self._lost += 1
                return
            self._pending.append(line)
            # Characters outside ASCII take up to four bytes.
            self._pending_bytes += len(line) if line.isascii() else len(line.encode())
            if len(self._pending) > 1:
                return
        # Fails if the loop is closed, at the end of the process.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._wake)

    async def flush(self) -> None:
        """Waits up to FLUSH_TIMEOUT_S until the lines so far are stored."""
        # One turn of the loop: the run's last line may still be scheduled.
        await asyncio.sleep(0)
        self._is_flushing = True
        self._begin()
        if self._sending is not None:
            await asyncio.wait([self._sending], timeout=FLUSH_TIMEOUT_S)
        self._is_flushing = False

    async def take_rest(self) -> str | None:
        """Returns the lines that are not sent yet as JSON, for a checkpoint; None: there are none.

        If they need a request of their own, waits up to FLUSH_TIMEOUT_S until they are stored.
        """
        await asyncio.sleep(0)
        is_small = len(self._pending) < BATCH_LINES and self._pending_bytes < BATCH_BYTES
        if self._sending is not None or not is_small:
            await self.flush()
            return None
        return self._take_body() if self._pending else None

    def close(self) -> None:
        """Drops what is left."""
        self._drop()
        if self._timer is not None:
            self._timer.cancel()
        if self._sending is not None:
            self._sending.cancel()

    def _wake(self) -> None:
        if self._sending is None and self._timer is None and self._pending:
            self._timer = self._loop.call_later(DELAY_S, self._begin)

    def _begin(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._sending is None and self._pending:
            self._sending = self._loop.create_task(self._send())

    async def _send(self) -> None:
        try:
            await self._store(self._take_body().encode())
            while self._pending and (self._is_flushing or len(self._pending) >= BATCH_LINES):
                await self._store(self._take_body().encode())
        finally:
            self._sending = None
            self._wake()

    def _take_body(self) -> str:
        lines = self._take()
        body = f'{{"first":{self._next_number},"lines":[{",".join(lines)}]}}'
        self._next_number += len(lines)
        return body

    async def _store(self, body: bytes) -> None:
        for delay in backoff(FIRST_RETRY_S, MAX_RETRY_S):
            try:
                await self._api.store_lines(self._execution_id, body, self._generation)
                return
            except Refused as refused:
                log.debug("lines of execution %s lost: %s", self._execution_id, refused)
                if refused.status not in {400, 413, 422}:
                    self._drop()
                return
            except Unavailable as error:
                log.debug("lines of execution %s wait: %s", self._execution_id, error)
                await asyncio.sleep(delay)

    def _drop(self) -> None:
        with self._lock:
            self._is_closed = True
            self._pending.clear()

    def _take(self) -> list[str]:
        """Takes the lines of the next request."""
        with self._lock:
            lines: list[str] = []
            size = 0
            while self._pending and len(lines) < BATCH_LINES:
                length = len(self._pending[0].encode())
                if lines and size + length > BATCH_BYTES:
                    break
                lines.append(self._pending.popleft())
                size += length
            self._pending_bytes -= size
            if self._lost and not self._pending:
                lines.append(_lost_marker(self._lost))
                self._lost = 0
            return lines


def _lost_marker(count: int) -> str:
    time = datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")
    message = f"{count} lines are missing: they could not be encoded or sent in time"
    line = {"task_id": "", "task_name": "", "level": logging.WARNING, "logger": "windlass"}
    return encode({**line, "message": message, "time": f"{time}Z"})
