"""Outbox: passes log entries from the user's thread to the thread that sends them."""

from __future__ import annotations

import asyncio
import threading

from windlass.worker._delta import Delta, LogEntry, PendingEntries

# New tasks wait while more entries than this are unsent.
MAX_PENDING_EVENTS = 10_000


class Outbox:
    """Journal of a run and source of its checkpoints.

    `record`, `wait_for_capacity` and `close` are called in the user's thread, all other methods in
    the sender's.
    """

    def __init__(
        self,
        sender_loop: asyncio.AbstractEventLoop,
        user_loop: asyncio.AbstractEventLoop,
        max_pending: int = MAX_PENDING_EVENTS,
    ) -> None:
        self._sender_loop = sender_loop
        self._user_loop = user_loop
        self._max_pending = max_pending
        self._lock = threading.Lock()
        self._pending = PendingEntries()
        self._closed = False
        self._is_signalled = False
        self._has_entries = asyncio.Event()
        self._capacity: asyncio.Event | None = None

    def record(self, entry: LogEntry) -> None:
        """Appends an entry; it is sent after the checkpoint that is in flight."""
        with self._lock:
            self._pending.add(entry)
        self._signal()

    async def wait_for_capacity(self) -> None:
        """Waits while the server accepts entries more slowly than the run records them."""
        while len(self._pending) >= self._max_pending and not self._closed:
            self._capacity = self._capacity or asyncio.Event()
            self._capacity.clear()
            await self._capacity.wait()

    def close(self) -> None:
        """Closes the outbox after the remaining entries."""
        self._closed = True
        self._signal()

    def abandon(self) -> None:
        """Closes the outbox and discards the remaining entries."""
        self._closed = True
        with self._lock:
            self._pending.clear()
        self._has_entries.set()
        self._signal_capacity()

    async def next(self) -> Delta | None:
        """Waits for entries and returns the next delta; None after the last one."""
        while True:
            await self._has_entries.wait()
            with self._lock:
                # Read before taking entries: no entry can follow once the outbox is closed.
                closed = self._closed
                self._is_signalled = False
                self._has_entries.clear()
                delta = self._pending.take()
                if len(self._pending) or closed:
                    self._has_entries.set()
            if delta:
                self._on_taken(len(delta.events))
            if delta or closed:
                return delta

    def _signal(self) -> None:
        with self._lock:
            if self._is_signalled:
                return
            self._is_signalled = True
        self._wake_sender()

    def _wake_sender(self) -> None:
        self._sender_loop.call_soon_threadsafe(self._has_entries.set)

    def _on_taken(self, count: int) -> None:
        """Is called when `count` entries have been taken."""
        self._signal_capacity()

    def _signal_capacity(self) -> None:
        if self._capacity is not None:
            self._user_loop.call_soon_threadsafe(self._capacity.set)
