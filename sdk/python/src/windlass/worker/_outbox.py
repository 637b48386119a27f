"""Carries a run's entries from the thread that makes them to the one that sends them."""

from __future__ import annotations

import asyncio
import threading

from windlass._entry import Entry
from windlass.worker._delta import Delta, Pending

# Beyond this many unsent entries no new task is begun.
MAX_PENDING_EVENTS = 10_000


class Outbox:
    """The journal of a run, and what its sender waits at.

    `record`, `room` and `close` belong to the user's thread, the rest to the sender's.
    """

    def __init__(
        self,
        sender: asyncio.AbstractEventLoop,
        user: asyncio.AbstractEventLoop,
        max_pending: int = MAX_PENDING_EVENTS,
    ) -> None:
        self._sender = sender
        self._user = user
        self._max_pending = max_pending
        self._lock = threading.Lock()
        self._pending = Pending()
        self._closed = False
        self._signalled = False
        self._something = asyncio.Event()
        self._room: asyncio.Event | None = None

    def record(self, entry: Entry) -> None:
        """Takes an entry, to be sent as soon as what is under way has arrived."""
        with self._lock:
            self._pending.add(entry)
        self._signal()

    async def room(self) -> None:
        """Waits while the server takes entries more slowly than the run makes them."""
        while len(self._pending) >= self._max_pending and not self._closed:
            self._room = self._room or asyncio.Event()
            self._room.clear()
            await self._room.wait()

    def close(self) -> None:
        """Nothing will follow."""
        self._closed = True
        self._signal()

    def abandon(self) -> None:
        """Nothing will follow, and nothing is to be sent any more."""
        self._closed = True
        with self._lock:
            self._pending.clear()
        self._something.set()
        self._give_room()

    async def next(self) -> Delta | None:
        """What to send next, as soon as there is something; None at the end."""
        while True:
            await self._something.wait()
            with self._lock:
                # Read before it is taken: after this nothing can come that was not seen.
                closed = self._closed
                self._signalled = False
                self._something.clear()
                delta = self._pending.take()
                if len(self._pending) or closed:
                    self._something.set()
            self._give_room()
            if delta or closed:
                return delta

    def _signal(self) -> None:
        with self._lock:
            if self._signalled:
                return
            self._signalled = True
        self._sender.call_soon_threadsafe(self._something.set)

    def _give_room(self) -> None:
        if self._room is not None:
            self._user.call_soon_threadsafe(self._room.set)
