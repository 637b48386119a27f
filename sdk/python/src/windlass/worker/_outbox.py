"""Carries a run's entries from the thread that makes them to the one that sends them."""

from __future__ import annotations

import asyncio
import threading

from windlass._entry import Entry
from windlass.worker._delta import Delta, PendingEntries

# Beyond this many unsent entries no new task is begun.
MAX_PENDING_EVENTS = 10_000


class Outbox:
    """The journal of a run, and what its sender waits at.

    `record`, `room` and `close` belong to the user's thread, the rest to the sender's.
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

    def record(self, entry: Entry) -> None:
        """Takes an entry, to be sent as soon as what is under way has arrived."""
        with self._lock:
            self._pending.add(entry)
        self._signal()

    async def wait_for_capacity(self) -> None:
        """Waits while the server takes entries more slowly than the run makes them."""
        while len(self._pending) >= self._max_pending and not self._closed:
            self._capacity = self._capacity or asyncio.Event()
            self._capacity.clear()
            await self._capacity.wait()

    def close(self) -> None:
        """Nothing will follow."""
        self._closed = True
        self._signal()

    def abandon(self) -> None:
        """Nothing will follow, and nothing is to be sent any more."""
        self._closed = True
        with self._lock:
            self._pending.clear()
        self._has_entries.set()
        self._signal_capacity()

    async def next(self) -> Delta | None:
        """What to send next, as soon as there is something; None at the end."""
        while True:
            await self._has_entries.wait()
            with self._lock:
                # Read before it is taken: after this nothing can come that was not seen.
                closed = self._closed
                self._is_signalled = False
                self._has_entries.clear()
                delta = self._pending.take()
                if len(self._pending) or closed:
                    self._has_entries.set()
            self._signal_capacity()
            if delta or closed:
                return delta

    def _signal(self) -> None:
        with self._lock:
            if self._is_signalled:
                return
            self._is_signalled = True
        self._sender_loop.call_soon_threadsafe(self._has_entries.set)

    def _signal_capacity(self) -> None:
        if self._capacity is not None:
            self._user_loop.call_soon_threadsafe(self._capacity.set)
