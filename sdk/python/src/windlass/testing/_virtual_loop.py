"""Event loop with a virtual clock.

The loop runs in a thread of its own. Time stands still while code runs. When nothing is left to run
and no thread is busy, the clock jumps to the next timer, as far as the test has allowed; then the
loop is idle until the test asks for more. So a sleep of a month takes no time, and what happens at
which virtual time is the same in every run.
"""

from __future__ import annotations

import asyncio
import math
import selectors
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, cast

# Limit for code that never becomes idle, such as an endless loop.
HANG_S = 60.0

# Real network connections of a test are given this long before the loop counts as idle.
NETWORK_S = 1.0


class _Selector(selectors.DefaultSelector):
    """Selector that lets the loop decide how to wait when nothing is ready."""

    def __init__(self) -> None:
        super().__init__()
        self.wait: Callable[[float | None], bool] = lambda _: False

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0) or self.wait(timeout):
            return ready
        return super().select(None)

    def poll(self, timeout: float | None) -> bool:
        """Returns true if something becomes ready within `timeout` seconds of real time."""
        return bool(super().select(timeout))


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self, *, is_interactive: bool = False) -> None:
        self.is_interactive = is_interactive
        self.now = 0.0
        self.limit = 0.0
        self.busy_threads = 0
        self.idle = threading.Event()
        self._waiting = _Selector()
        super().__init__(self._waiting)
        self._waiting.wait = self._pass_time

    def time(self) -> float:
        return self.now

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]
        thread = super().run_in_executor(executor, func, *args)
        self.busy_threads += 1
        thread.add_done_callback(self._on_thread_done)
        return thread

    def _on_thread_done(self, _: Any) -> None:
        self.busy_threads -= 1

    def _pass_time(self, timeout: float | None) -> bool:
        """Returns true if the loop has work again without waiting for an event."""
        if self.busy_threads:
            return False
        # The loop's own wake-up is one of the registered descriptors.
        if len(self._waiting.get_map()) > 1 and self._await_network(timeout):
            return True
        if timeout is not None:
            timers: list[asyncio.TimerHandle] = cast("Any", self)._scheduled
            next_at = timers[0].when() if timers else self.now + timeout
            if next_at <= self.limit:
                # After a year, the loop's clock resolution is less than the rounding of the time:
                # without the next number, a timer would stay due and never be called.
                self.now = max(self.now, math.nextafter(next_at, math.inf))
                return True
        self.now = max(self.now, self.limit)
        self.idle.set()
        return False

    def _await_network(self, timeout: float | None) -> bool:
        """Returns true if a connection has something to read or write.

        In an interactive engine, time passes as on a clock meanwhile, up to the next timer.
        """
        if not self.is_interactive:
            return self._waiting.poll(NETWORK_S)
        started = time.monotonic()
        is_ready = self._waiting.poll(timeout)
        elapsed = time.monotonic() - started
        if is_ready:
            self.now += elapsed if timeout is None else min(timeout, elapsed)
        return is_ready


class VirtualLoop:
    """Controls the loop and its thread."""

    def __init__(self, *, is_interactive: bool = False) -> None:
        self._hang_s = None if is_interactive else HANG_S
        self.loop = _Loop(is_interactive=is_interactive)
        self._thread = threading.Thread(target=self._run, name="windlass-engine", daemon=True)
        self._thread.start()

    @property
    def now(self) -> float:
        """Seconds of virtual time since the start."""
        return self.loop.now

    def call(self, func: Callable[[], Any], *, advance_s: float = 0.0) -> Any:
        """Calls `func` in the loop, lets time pass, and returns its result when the loop is idle.

        Raises TimeoutError if the loop is not idle after a minute of real time, unless it is
        interactive.
        """
        result: Future[Any] = Future()

        def call() -> None:
            # Cleared here: before, the loop may still be on its way to its last rest.
            self.loop.idle.clear()
            self.loop.limit = self.loop.now + advance_s
            try:
                result.set_result(func())
            except BaseException as error:
                result.set_exception(error)

        self.loop.call_soon_threadsafe(call)
        value = result.result(self._hang_s)
        if not self.loop.idle.wait(self._hang_s):
            raise TimeoutError("the workflow never becomes idle; does it loop without awaiting?")
        return value

    def stop_clock(self) -> None:
        """Ends the time that `call` lets pass. Called in the loop."""
        self.loop.limit = self.loop.now

    def close(self) -> None:
        """Cancels everything that runs and ends the thread."""
        self.loop.call_soon_threadsafe(self._stop)
        self._thread.join(HANG_S)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            self.loop.close()

    def _stop(self) -> None:
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        ended = asyncio.gather(*tasks, return_exceptions=True)
        ended.add_done_callback(lambda _: self.loop.stop())
