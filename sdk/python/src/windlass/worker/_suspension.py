"""Detection of suspensions: times in which this process did not run."""

from __future__ import annotations

import asyncio

TICK_S = 1.0
# A loop that is busy for this long is treated like one that was suspended.
MAX_LAG_S = 2.0
# Frames that waited in sockets meanwhile are read within this time, or as long as the suspension
# took: the gateway may have been suspended with this process.
CATCH_UP_S = 10.0
MAX_CATCH_UP_S = 600.0


class SuspensionWatch:
    """Knows whether a frame that is read now may have waited for long before it was read."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ticked_at = self._loop.time()
        self._suspect_until = 0.0
        self._timer = self._loop.call_later(TICK_S, self._tick)

    @property
    def may_be_late(self) -> bool:
        """True during and shortly after a suspension."""
        now = self._loop.time()
        return now < self._suspect_until or self._is_late(now)

    def stop(self) -> None:
        """Ends the timer."""
        self._timer.cancel()

    def _tick(self) -> None:
        now = self._loop.time()
        if self._is_late(now):
            lag_s = now - self._ticked_at - TICK_S
            catch_up_s = min(max(CATCH_UP_S, lag_s), MAX_CATCH_UP_S)
            self._suspect_until = max(self._suspect_until, now + catch_up_s)
        self._ticked_at = now
        self._timer = self._loop.call_later(TICK_S, self._tick)

    def _is_late(self, now: float) -> bool:
        return now - self._ticked_at > TICK_S + MAX_LAG_S
