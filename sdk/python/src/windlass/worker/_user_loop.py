"""The event loop that the user's code runs in, in a thread of its own.

Code that blocks it holds up other workflows of this worker, but never the heartbeat, the claims
or the checkpoints.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from windlass._children import track_children

log = logging.getLogger("windlass.worker")

# Synchronous tasks hold one each while they run.
MAX_THREADS = 64


class UserLoop:
    """Started and stopped by the worker's thread, which may also hand it calls."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.loop.set_task_factory(track_children)
        self._executor = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="windlass-task")
        self.loop.set_default_executor(self._executor)
        # A daemon: user code that never returns must not keep the process from ending.
        self._thread = threading.Thread(target=self._run, name="windlass-user", daemon=True)
        self._stopping = False
        self._probed_at: float | None = None
        self.lag_s = 0.0

    def start(self) -> None:
        """Begins to serve."""
        self._thread.start()

    def call(self, func: Callable[..., Any], *args: Any) -> None:
        """Has `func` called in the loop."""
        self.loop.call_soon_threadsafe(func, *args)

    def probe(self) -> float:
        """Asks the loop for a sign of life; seconds that an earlier question waits for its answer.

        `lag_s` tells how long the last answer took.
        """
        now = time.monotonic()
        if self._probed_at is not None:
            return now - self._probed_at
        self._probed_at = now
        self.call(self._on_probe)
        return 0.0

    def stop(self, timeout_s: float) -> bool:
        """Ends the loop. False if user code keeps it, or a thread of its own, busy."""
        self._stopping = True
        self._executor.shutdown(wait=False, cancel_futures=True)
        self.call(self._cancel_tasks, timeout_s / 2)
        self._thread.join(timeout_s)
        threads = threading.enumerate()
        return not any(thread.name.startswith("windlass-") for thread in threads)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        while not self._stopping:
            try:
                self.loop.run_forever()
            except BaseException:
                # A SystemExit in a bare asyncio task gets here; the other executions go on.
                log.exception("user code tried to end the event loop")
        self.loop.close()

    def _cancel_tasks(self, timeout_s: float) -> None:
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        cancelled = asyncio.gather(*left, return_exceptions=True)
        cancelled.add_done_callback(lambda _: self.loop.stop())
        self.loop.call_later(timeout_s, self.loop.stop)

    def _on_probe(self) -> None:
        if self._probed_at is not None:
            self.lag_s = time.monotonic() - self._probed_at
        self._probed_at = None
