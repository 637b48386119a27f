"""Parking: a run that only waits is released with the condition on which it continues.

The problem
-----------
A sleep of a month, the delay before a retry and a call of another workflow need no worker, but the
coroutine that awaits them lives in one. Parents that wait for children could fill all slots of a
worker, so that no child ever starts.

The rule
--------
The run knows its waits (`sleep`, retry delays, `call`) and counts its running tasks. It parks once

- no task runs except those that wait or only await others (`parallel`, `first`, `Graph`),
- each wait has more than `after_s` left, or has lasted so long if its end is unknown,
- the body waits for nothing of its own with a time limit, such as `asyncio.timeout` around a call:
  the limit would pass unseen,
- no thread of an earlier attempt still runs.

A run that only waits for calls is offered to the worker after EARLY_S. The worker accepts while it
has no free slot: what the run waits for may need that slot. So parents on a full worker do not hold
their slots for `after_s`, and where a slot is free, nothing is parked that ends within `after_s`.
Sleeps and retry delays up to `after_s` hold their slots on a full worker too: they wait for
no other run, a parked run continues up to a second late (p50 0.84 s, p99 1.04 s, 2026-11-26), and
the worker does not know whether more work is queued.

The run is then closed as on a shutdown, its entries are sent, and the execution is released with
the earliest time and the executions that it waits for. The next worker replays the log up to the
same waits; a sleep and a retry delay take their start from the log, a call finds the execution
that it had started. So a run that is parked or woken too early loses time, never correctness.

Times are those of the server: the condition counts from the time at which the server recorded the
claim or the lease, because a worker with another clock would park again and again.

Not parked
----------
Transient runs, inline runs, tasks with a timeout, and waits inside a task: its function would run
again from its start. Event loops that do not list their timers (uvloop) never park.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeVar

from windlass._environment import Environment
from windlass.domain.events import ExecutionEventType as E
from windlass.domain.execution_context import ExecutionContext

log = logging.getLogger("windlass.run")

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

# Code that becomes ready in the meantime may start another task.
SETTLE_S = 0.02
# A call that an earlier run awaited already is waited for at least so long.
AGAIN_S = 0.5
# A call that lasts longer holds no slot of a full worker. Most short calls end within this time.
EARLY_S = 0.1
# A timer of the body, or a thread, prevents parking; it is checked again after this time.
RECHECK_S = 1.0
# Maximum that the server accepts; the others are awaited when one of these has ended.
MAX_AWAITED = 256

_NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class WakeCondition:
    """Condition on which a parked execution continues: a time (UTC), the end of an execution."""

    wake_at: datetime | None
    wake_on: tuple[str, ...]

    def to_wire(self) -> dict[str, Any]:
        """Returns the body of the release."""
        wake_at = None if self.wake_at is None else self.wake_at.isoformat()
        return {"wake_at": wake_at, "wake_on": list(self.wake_on)}

    @classmethod
    def from_wire(cls, body: Mapping[str, Any]) -> WakeCondition:
        """Returns the condition of a body."""
        at = body["wake_at"]
        return cls(None if at is None else datetime.fromisoformat(at), tuple(body["wake_on"]))


@dataclass(eq=False, slots=True)
class _Wait:
    """One wait; times are those of the event loop."""

    parkable_at: float
    until: float = _NEVER
    execution_id: str | None = None
    # On a full worker; the future whose end makes the wait parkable.
    early_at: float = _NEVER
    patience: asyncio.Future[None] | None = None

    def earliest(self) -> float:
        """Returns the earliest time at which a full worker may park the run."""
        return min(self.parkable_at, self.early_at)


def only_awaits(func: F) -> F:
    """Marks the function of a task that waits or only awaits other calls."""
    func.__windlass_only_awaits__ = True  # type: ignore[attr-defined]
    return func


class Parkable(Protocol):
    """Run that can be parked."""

    context: ExecutionContext[Any]
    environment: Environment
    deadline: datetime | None
    has_timed_out: bool

    @property
    def is_closed(self) -> bool: ...

    @property
    def is_cancelled(self) -> bool: ...

    @property
    def has_threads(self) -> bool: ...

    def owns(self, context: contextvars.Context) -> bool:
        """Returns true if code in this context belongs to the run."""
        ...


class Parking:
    """Waits and running tasks of a run. Without `enable`, it only waits."""

    def __init__(self, run: Parkable) -> None:
        self._run = run
        self._after_s: float | None = None
        self._on_park: Callable[[WakeCondition], None] | None = None
        self._on_waiting: Callable[[], None] | None = None
        self._claimed: tuple[datetime, float] | None = None
        self._busy = 0
        self._waits: set[_Wait] = set()
        self._timer: asyncio.TimerHandle | None = None

    def enable(
        self,
        after_s: float,
        on_park: Callable[[WakeCondition], None],
        on_waiting: Callable[[], None] | None = None,
    ) -> None:
        """Calls `on_park` once the run only waits. Called in the run's event loop.

        `on_waiting` is called when `park_early` would park it before. A transient run is never
        parked: it cannot continue.
        """
        if self._run.context.is_transient:
            return
        self._after_s, self._on_park, self._on_waiting = after_s, on_park, on_waiting
        self._claimed = self._server_time(), asyncio.get_running_loop().time()

    def begin_task(self, func: Callable[..., Any], *, has_limit: bool) -> bool:
        """Counts a task, unless its function only awaits and has no time limit.

        Returns true if `end_task` must be called at its end.
        """
        if not has_limit and getattr(func, "__windlass_only_awaits__", False):
            return False
        self._add_busy(1)
        return True

    def end_task(self) -> None:
        """Counts a task no longer."""
        self._add_busy(-1)

    async def sleep(self, delay_s: float) -> None:
        """Waits so many seconds."""
        if delay_s <= 0:
            await asyncio.sleep(0)
            return
        now = asyncio.get_running_loop().time()
        is_long = self._after_s is not None and delay_s > self._after_s
        with self._waiting(_Wait(now if is_long else _NEVER, until=now + delay_s)):
            await _sleep(delay_s)

    async def delay_task(self, delay_s: float, *, has_limit: bool) -> None:
        """Waits so many seconds between two attempts of a task."""
        if has_limit:
            await asyncio.sleep(delay_s)
            return
        self._add_busy(-1)
        try:
            await self.sleep(delay_s)
        finally:
            self._add_busy(1)

    async def await_execution(
        self,
        result: Coroutine[Any, Any, T],
        find_id: Callable[[], Awaitable[str]],
        waited_s: float,
    ) -> T:
        """Awaits the result of an execution; earlier runs have awaited it `waited_s` seconds."""
        if self._after_s is None:
            return await result
        loop = asyncio.get_running_loop()
        patience_s = max(min(self._after_s, AGAIN_S), self._after_s - waited_s)
        early_s = min(patience_s, EARLY_S if waited_s < EARLY_S else AGAIN_S)
        awaited, patience = loop.create_task(result), loop.create_future()
        timer = loop.call_later(patience_s, _finish, patience, context=no_run())
        wait = _Wait(_NEVER, early_at=loop.time() + early_s, patience=patience)
        try:
            with self._waiting(wait):
                await asyncio.wait([awaited, patience], return_when=asyncio.FIRST_COMPLETED)
                if not awaited.done():
                    await self._make_parkable(wait, find_id)
                return await awaited
        finally:
            timer.cancel()
            awaited.cancel()

    def park_early(self) -> None:
        """Parks the run if it still only waits, without waiting until `after_s` has passed."""
        now = asyncio.get_running_loop().time()
        if self._after_s is None or self._busy:
            return
        if all(wait.earliest() <= now for wait in self._waits):
            for wait in self._waits:
                if wait.patience is not None:
                    _finish(wait.patience)

    def stop(self) -> None:
        """Never parks from now on."""
        self._after_s = None
        self._on_change()

    async def _make_parkable(self, wait: _Wait, find_id: Callable[[], Awaitable[str]]) -> None:
        try:
            wait.execution_id = await find_id()
        except Exception as error:
            log.warning("failed to find an awaited execution, not parking: %s", error)
            return
        wait.parkable_at = asyncio.get_running_loop().time()
        self._on_change()

    @contextmanager
    def _waiting(self, wait: _Wait) -> Generator[None, None, None]:
        self._waits.add(wait)
        self._on_change()
        try:
            yield
        finally:
            self._waits.discard(wait)
            self._on_change()

    def _add_busy(self, count: int) -> None:
        self._busy += count
        if self._after_s is not None:
            self._on_change()

    def _on_change(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._after_s is None or self._busy or not self._waits:
            return
        at, action = max(wait.parkable_at for wait in self._waits), self._park
        if at == _NEVER:
            at, action = max(wait.earliest() for wait in self._waits), self._offer
        if at < _NEVER:
            now = asyncio.get_running_loop().time()
            self._set_timer(max(at, now) + SETTLE_S, action)

    def _set_timer(self, at: float, action: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_at(at, action, context=no_run())

    def _offer(self) -> None:
        self._timer = None
        if self._on_waiting is not None and not self._run.is_closed:
            self._on_waiting()

    def _park(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = None
        if self._run.is_closed or self._run.is_cancelled or self._on_park is None:
            return
        if self._run.has_threads or _has_timer(loop, self._run):
            self._set_timer(loop.time() + RECHECK_S, self._park)
            return
        condition = self._condition()
        self.stop()
        self._on_park(condition)

    def _condition(self) -> WakeCondition:
        untils = [wait.until for wait in self._waits if wait.until < _NEVER]
        now_s = asyncio.get_running_loop().time()
        if self._run.deadline is not None and not self._run.has_timed_out:
            left_s = (self._run.deadline - self._run.environment.clock()).total_seconds()
            untils.append(now_s + left_s)
        wake_at = None
        if untils and self._claimed:
            claimed_at, claimed_s = self._claimed
            wake_at = _add(claimed_at, min(untils) - claimed_s)
        ids = sorted({wait.execution_id for wait in self._waits if wait.execution_id})
        return WakeCondition(wake_at, tuple(ids[:MAX_AWAITED]))

    def _server_time(self) -> datetime:
        """Returns the time at which the server recorded the claim, or else this machine's time.

        If the first checkpoint is the claim, that of the lease, shortly before.
        """
        events = self._run.context.events
        time = next((event.time for event in reversed(events) if event.type in _STARTS), None)
        if time is None:
            return self._run.environment.clock()
        return datetime.fromisoformat(time).astimezone(UTC)


_STARTS = frozenset(
    {
        E.WORKFLOW_SCHEDULED,
        E.WORKFLOW_CLAIMED,
        E.WORKFLOW_RESUME_SCHEDULED,
        E.WORKFLOW_RESUME_CLAIMED,
    }
)

# Timers of the waits themselves, and of a limit of the whole run, belong to no run.
no_run = contextvars.Context


async def _sleep(delay_s: float) -> None:
    """Sleeps with a timer that belongs to no run."""
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    timer = loop.call_later(delay_s, _finish, done, context=no_run())
    try:
        await done
    finally:
        timer.cancel()


def _finish(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)


def _add(time: datetime, seconds: float) -> datetime:
    try:
        return time + timedelta(seconds=seconds)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def _has_timer(loop: asyncio.AbstractEventLoop, run: Parkable) -> bool:
    """True if code of the run has set a timer, or if the loop does not list its timers."""
    timers = getattr(loop, "_scheduled", None)
    if timers is None:
        return True
    return any(run.owns(timer._context) and not timer.cancelled() for timer in timers)
