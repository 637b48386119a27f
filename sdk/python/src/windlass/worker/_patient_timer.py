"""Timer after which something counts as ignored: what already waits in a socket counts before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

# A timer that fires later than this shows that the process did not run, or that its loop was busy.
MAX_LATE_S = 0.5


class PatientTimer:
    """Calls `action` after `delay_s`, in the context of the caller.

    The other side may have answered while this process did not run. So the answer is read
    first, and a process that was stopped too gets as much more time as was lost, at most the delay.
    """

    def __init__(self, delay_s: float, action: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._delay_s = delay_s
        self._action = action
        self._has_more_time = False
        self._due_at = self._loop.time() + delay_s
        self._handle: asyncio.Handle = self._loop.call_at(self._due_at, self._on_time)

    def cancel(self) -> None:
        """Ends the timer."""
        self._handle.cancel()

    def _on_time(self) -> None:
        late_s = self._loop.time() - self._due_at
        if late_s > MAX_LATE_S and not self._has_more_time:
            self._has_more_time = True
            self._handle = self._loop.call_later(min(late_s, self._delay_s), self._on_time)
        else:
            # In the turn after the next one: the loop reads its sockets in the next one.
            self._handle = self._loop.call_soon(self._call_soon)

    def _call_soon(self) -> None:
        self._handle = self._loop.call_soon(self._action)
