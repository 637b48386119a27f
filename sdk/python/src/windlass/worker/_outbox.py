"""Outbox: passes log entries from the user's thread to the thread that sends them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from enum import Enum, auto

from windlass.worker._delta import Delta, LogEntry, PendingEntries

# New tasks wait while more entries than this are unsent.
MAX_PENDING_EVENTS = 10_000

# An entry that does not settle the execution waits this long for others, so that short steps share
# a checkpoint.
LINGER_S = 0.003


class Wake(Enum):
    """When the sender takes the pending entries."""

    LATER = auto()
    NOW = auto()


class Outbox:
    """Journal of a run and source of its checkpoints.

    `record`, `wait_for_capacity`, `wait_until_stored` and `close` are called in the user's thread,
    all other methods in the sender's.
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
        self._wake: Wake | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._has_entries = asyncio.Event()
        self._capacity: asyncio.Event | None = None
        self._recorded = 0
        self._stored = 0
        self._storage: asyncio.Event | None = None

    def record(self, entry: LogEntry) -> None:
        """Appends an entry; it is sent after the checkpoint that is in flight.

        An entry that does not settle the execution is sent LINGER_S later, with those that follow.
        """
        with self._lock:
            self._pending.add(entry)
            self._recorded += 1
        self._signal(Wake.NOW if entry.state.is_resting else Wake.LATER)

    async def wait_for_capacity(self) -> None:
        """Waits while the server accepts entries more slowly than the run records them."""
        while len(self._pending) >= self._max_pending and not self._closed:
            self._capacity = self._capacity or asyncio.Event()
            self._capacity.clear()
            await self._capacity.wait()

    async def wait_until_stored(self) -> None:
        """Waits until the server has stored all entries so far, which are sent at once.

        Raises CancelledError if they are discarded.
        """
        target = self._recorded
        self.flush()
        while self._stored < target and not self._closed:
            self._storage = self._storage or asyncio.Event()
            self._storage.clear()
            await self._storage.wait()
        if self._stored < target:
            raise asyncio.CancelledError("the run is closed")

    def flush(self) -> None:
        """Sends what is pending without waiting for further entries."""
        if len(self._pending):
            self._signal(Wake.NOW)

    def on_stored(self, count: int) -> None:
        """Notes that the server has stored `count` more entries."""
        self._stored += count
        self._signal_stored()

    def close(self) -> None:
        """Closes the outbox after the remaining entries."""
        self._closed = True
        self._signal(Wake.NOW)

    def abandon(self) -> None:
        """Closes the outbox and discards the remaining entries."""
        self._closed = True
        with self._lock:
            self._pending.clear()
        self._has_entries.set()
        self._signal_capacity()
        self._signal_stored()

    async def next(self) -> Delta | None:
        """Waits for entries and returns the next delta; None after the last one."""
        while True:
            await self._has_entries.wait()
            with self._lock:
                # Read before taking entries: no entry can follow once the outbox is closed.
                closed = self._closed
                self._wake = None
                self._has_entries.clear()
                delta = self._pending.take()
                if len(self._pending) or closed:
                    self._has_entries.set()
            self._cancel_timer()
            if delta:
                self._on_taken(len(delta.events))
            if delta or closed:
                return delta

    def _signal(self, wake: Wake) -> None:
        with self._lock:
            if self._wake is Wake.NOW or self._wake is wake:
                return
            self._wake = wake
        self._wake_sender(self._has_entries.set if wake is Wake.NOW else self._start_timer)

    def _wake_sender(self, action: Callable[[], None]) -> None:
        self._sender_loop.call_soon_threadsafe(action)

    def _start_timer(self) -> None:
        self._cancel_timer()
        self._timer = self._sender_loop.call_later(LINGER_S, self._has_entries.set)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_taken(self, count: int) -> None:
        """Is called when `count` entries have been taken."""
        self._signal_capacity()

    def _signal_stored(self) -> None:
        if self._storage is not None:
            self._user_loop.call_soon_threadsafe(self._storage.set)

    def _signal_capacity(self) -> None:
        if self._capacity is not None:
            self._user_loop.call_soon_threadsafe(self._capacity.set)
