"""User loop: the event loop of user code, in a thread of its own.

User code that blocks the loop delays other workflows of this worker, but never heartbeats, claims
or checkpoints, which run in the worker's thread.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from windlass._children import track_children

log = logging.getLogger("windlass.worker")

# Each running synchronous task occupies one thread.
MAX_THREADS = 64


class UserLoop:
    """Event loop of user code. The worker's thread starts it, stops it and schedules calls.

    `in_thread=False`: the loop runs in the thread that calls `run`, instead of one of its own.
    """

    def __init__(self, *, in_thread: bool = True) -> None:
        self.loop = asyncio.new_event_loop()
        self.loop.set_task_factory(track_children)
        self._executor = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="windlass-task")
        self.loop.set_default_executor(self._executor)
        # A daemon thread: user code that never returns must not keep the process alive.
        self._thread = threading.Thread(target=self.run, name="windlass-user", daemon=True)
        self._in_thread = in_thread
        self._ended = threading.Event()
        self._stopping = False
        self._probed_at: float | None = None
        self.lag_s = 0.0

    def start(self) -> None:
        """Starts the thread, if the loop has one of its own."""
        if self._in_thread:
            self._thread.start()

    def call(self, func: Callable[..., Any], *args: Any) -> None:
        """Schedules a call of `func` in the loop."""
        self.loop.call_soon_threadsafe(func, *args)

    def probe(self) -> float:
        """Schedules a probe in the loop, unless an earlier one is unanswered.

        Returns the age of the unanswered probe in seconds, or 0; `lag_s` is the duration of the
        last answered one.
        """
        now = time.monotonic()
        if self._probed_at is not None:
            return now - self._probed_at
        self._probed_at = now
        self.call(self._on_probe)
        return 0.0

    def stop(self, timeout_s: float) -> bool:
        """Stops the loop. Returns False if user code still occupies one of its threads."""
        self._stopping = True
        self._executor.shutdown(wait=False, cancel_futures=True)
        self.call(self._cancel_tasks, timeout_s / 2)
        if not self._ended.wait(timeout_s):
            return False
        if self._in_thread:
            self._thread.join()
        threads = threading.enumerate()
        return not any(thread.name.startswith("windlass-") for thread in threads)

    def end(self) -> None:
        """Lets `run` return although the loop was never used. Callable from any thread."""
        self._stopping = True
        with suppress(RuntimeError):  # it is closed
            self.call(self.loop.stop)

    def run(self) -> None:
        """Runs the loop until `stop`."""
        asyncio.set_event_loop(self.loop)
        while not self._stopping:
            try:
                self.loop.run_forever()
            except BaseException:
                # For example a SystemExit in an asyncio task of user code. Other executions must
                # continue.
                log.exception("user code raised in the event loop")
        self.loop.close()
        self._ended.set()

    def _cancel_tasks(self, timeout_s: float) -> None:
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        cancelled = asyncio.gather(*tasks, return_exceptions=True)
        cancelled.add_done_callback(lambda _: self.loop.stop())
        self.loop.call_later(timeout_s, self.loop.stop)

    def _on_probe(self) -> None:
        if self._probed_at is not None:
            self.lag_s = time.monotonic() - self._probed_at
        self._probed_at = None
