"""Heartbeats: a long task shows that it is alive, and records how far it has come.

Each heartbeat moves the limit of `heartbeat_timeout`. Its details are published as progress at
once, but recorded in the log at most every RECORD_INTERVAL_S and when the attempt fails: a
checkpoint for each of them would cost more than many tasks do.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from windlass._json import encode, loads
from windlass._replay import HEARTBEAT
from windlass._run import Attempt, Run, require_scope
from windlass._task_call import Call
from windlass.domain.events import ExecutionEventType as E
from windlass.errors import ExecutionTimeoutError

RECORD_INTERVAL_S = 10.0

T = TypeVar("T")


def heartbeat(details: Any = None) -> None:
    """Shows that the current attempt is alive; callable from threads, at any rate.

    `details`, a JSON value, say how far the task has come. The next attempt reads the last recorded
    ones as `current().heartbeat_details`, also on another worker; they may be ten seconds old.
    Those of a sensitive task are not recorded. A task that continues from details must not call
    other tasks: the same calls would count as others.
    Does nothing outside a task. Raises ExecutionContextNotFoundError outside a run and
    UnserializableError for details without a JSON form.

        for n in range(current().heartbeat_details or 0, len(rows)):
            load(rows[n])
            heartbeat(n + 1)
    """
    scope = require_scope()
    plain = loads(encode(details))
    if scope.attempt.heartbeat is not None and not scope.attempt.is_cancelled:
        scope.attempt.heartbeat(plain)
        if plain is not None and not scope.is_sensitive:
            scope.run.services.publish_progress(scope.call_id, scope.task_name, plain)


class HeartbeatMonitor:
    """Heartbeats of one attempt."""

    def __init__(
        self,
        run: Run,
        call: Call,
        attempt: Attempt,
        timeout_s: float,
        *,
        is_sensitive: bool = False,
    ) -> None:
        self._is_sensitive = is_sensitive
        self._run = run
        self._call = call
        self._timeout_s = timeout_s
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._limit: asyncio.Timeout | None = None
        self._has_ended = False
        self._unrecorded: Any = None
        self._recorded_at = -RECORD_INTERVAL_S
        attempt.heartbeat = self._beat_threadsafe
        attempt.heartbeat_details = run.replay.find_heartbeat(call.id)

    def end(self) -> None:
        """Is called at the end of the attempt: records the last details."""
        self._has_ended = True
        self._record()

    async def run_within_limit(self, body: Callable[[], Awaitable[T]]) -> T:
        """Runs the body. Raises ExecutionTimeoutError if its heartbeats stop."""
        self._limit = limit = asyncio.timeout(self._timeout_s)
        try:
            async with limit:
                return await body()
        except TimeoutError:
            if limit.expired():
                message = f"the attempt sent no heartbeat for {self._timeout_s} seconds"
                raise ExecutionTimeoutError(self._timeout_s, message) from None
            raise

    def _beat_threadsafe(self, details: Any) -> None:
        if threading.get_ident() == self._thread:
            self._beat(details)
        else:
            self._loop.call_soon_threadsafe(self._beat, details)

    def _beat(self, details: Any) -> None:
        if self._has_ended or self._run.is_closed:
            return
        now = self._loop.time()
        if self._limit is not None and not self._limit.expired():
            self._limit.reschedule(now + self._timeout_s)
        if details is not None:
            self._unrecorded = details
            if now - self._recorded_at >= RECORD_INTERVAL_S:
                self._recorded_at = now
                self._record()

    def _record(self) -> None:
        """Records the last details, for later attempts in this run and in others."""
        details, self._unrecorded = self._unrecorded, None
        if details is not None and not self._run.is_closed:
            if not self._is_sensitive:
                value = {HEARTBEAT: details}
                self._run.record_task(E.TASK_STARTED, self._call.id, self._call.name, value)
            self._run.replay.add_heartbeat(self._call.id, details)
