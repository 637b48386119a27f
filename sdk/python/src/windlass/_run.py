"""Run: the state of one pass over a workflow's body, from replay to recording."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextvars import Context, ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from windlass._child_tasks import ChildTasks
from windlass._entry import Entry, create_entry
from windlass._environment import Environment
from windlass._masking import Mask
from windlass._mismatch import MismatchGuard
from windlass._parking import Parking
from windlass._replay import Replay
from windlass._services import Journal, Services
from windlass._trace import Trace
from windlass.domain.events import ExecutionEventType as E
from windlass.domain.execution_context import ExecutionContext
from windlass.domain.state import ExecutionState
from windlass.errors import ExecutionContextNotFoundError

log = logging.getLogger("windlass.run")

THREAD_WARNING_S = 10.0


class OutputCapture(Protocol):
    """Destination of what code in a run writes; `windlass._capture` implements it."""

    def hide(self, values: Iterable[Any]) -> None:
        """Masks the texts of these values in later lines."""

    def write(self, scope: Scope, stream: str, level: int, text: str) -> None:
        """Captures printed text."""

    def add(self, scope: Scope, logger: str, level: int, message: str, seconds: float) -> None:
        """Captures one message of a logger."""

    def end(self) -> None:
        """Captures printed text whose line was not ended."""


class UnawaitedCall(Protocol):
    """Call of a task that nothing awaits yet."""

    @property
    def place(self) -> str:
        """File and line of its creation."""
        ...

    def close(self) -> None:
        """Ends it; otherwise Python would warn."""


class Run:
    """One pass over a workflow's body, from its claim until it is settled or loses its claim."""

    def __init__(
        self,
        context: ExecutionContext[Any],
        journal: Journal,
        services: Services,
        *,
        input_text: str | None = None,
        resume_text: str | None = None,
        transient: bool = False,
        version: int | None = None,
        environment: Environment | None = None,
        trace: Trace | None = None,
    ) -> None:
        self.context = context
        self.version = version
        self.environment = environment or Environment()
        self.services = services
        # None: the execution is not traced.
        self.trace = trace
        self.replay = Replay(context.events, resume_text)
        self.input_text = input_text
        self.is_transient = context.is_transient = transient
        # True: no task begins before all entries are stored.
        self.is_strict = False
        # Time (UTC) at which the workflow's timeout ends.
        self.deadline: datetime | None = None
        # True once it has ended; only compensations follow.
        self.has_timed_out = False
        self.children = ChildTasks()
        # Asyncio tasks of compensations, which a cancel does not end.
        self.compensations = ChildTasks()
        # True once code has requested a pause. Unless it fails, the run ends with it.
        self.is_pausing = False
        # True while the code is about to be cancelled, but only after it has made the calls of the
        # log: new calls, and interrupted ones, do not run.
        self.is_catching_up = False
        # True if an earlier run was cancelled and its worker lost: this one makes the calls of the
        # log and is then cancelled in its place. Until then, other calls do not run.
        self.is_cancel_due = context.state == ExecutionState.CANCELLING
        # True once the body has ended: its branches are cancelled and compensate.
        self.is_ending = False
        # Compensations of blocks that were cancelled while a pause was requested.
        self.deferred: list[Callable[[], Awaitable[None]]] = []
        self._journal = journal
        self._is_closed = False
        self._is_cancelled = False
        self._has_recorded = False
        self._calls: dict[str, int] = {}
        # Calls that were created and not awaited yet, by id.
        self.unawaited: dict[str, UnawaitedCall] = {}
        self._threads: dict[str, set[asyncio.Future[Any]]] = {}
        self._unrecorded_resume = self.replay.resume
        self._source = f"{context.workflow_name}_{context.execution_id}"
        self.guard = MismatchGuard(self)
        # Gets what the code writes, in a worker.
        self.capture: OutputCapture | None = None
        # Values of the secrets that it has read.
        self.mask = Mask()
        self.parking = Parking(self)
        # Answers of `patched` in this run, by call id.
        self.patches: dict[str, bool] = {}
        # Calls of all compensations of a saga, by the first of them.
        self.compensations_of: dict[str, list[str]] = {}

    @property
    def is_closed(self) -> bool:
        """True once nothing can be recorded any more."""
        return self._is_closed

    @property
    def is_cancelled(self) -> bool:
        """True once cancellation of the execution was requested."""
        return self._is_cancelled

    @property
    def is_replaying(self) -> bool:
        """True until something is recorded that was not in the log when the run began."""
        return self.replay.is_started and not self._has_recorded

    def request_cancel(self) -> None:
        """Marks the run as cancelled, so that a CancelledError in it counts as its cancellation."""
        self._is_cancelled = True
        self.is_cancel_due = False

    def close(self) -> None:
        """Closes the run. Code that tries to record anything afterwards gets a CancelledError."""
        self._is_closed = True

    def assign_id(self, path: str, call_id: str) -> str:
        """Returns a unique id for a call.

        The n-th equal call of one scope gets the suffix `#n`. Calls are counted per scope (the
        workflow's body, an attempt of a task, a parallel branch): only within a scope is their
        order the same in every run.
        """
        if path:
            call_id = f"{call_id}@{hashlib.sha256(path.encode()).hexdigest()[:12]}"
        n = self._calls[call_id] = self._calls.get(call_id, 0) + 1
        return call_id if n == 1 else f"{call_id}#{n}"

    def hide(self, values: Iterable[Any]) -> None:
        """Masks values of secrets in what the code writes, and in its failures."""
        values = list(values)
        self.mask.add(values)
        if self.capture is not None:
            self.capture.hide(values)

    def add_thread(self, call_id: str, thread: asyncio.Future[Any]) -> None:
        """Remembers a thread of a call that is no longer awaited but still running."""
        threads = self._threads.setdefault(call_id, set())
        threads.add(thread)
        thread.add_done_callback(threads.discard)

    def owns(self, context: Context) -> bool:
        """Returns true if code in this context belongs to the run."""
        scope = context.get(current_scope)
        return scope is not None and scope.run is self

    @property
    def has_threads(self) -> bool:
        """True if a thread of an earlier attempt still runs."""
        return any(self._threads.values())

    async def await_threads(self, call_id: str) -> None:
        """Waits until the threads of earlier attempts of a call have ended."""
        threads = self._threads.get(call_id)
        while threads:
            _, running = await asyncio.wait(threads, timeout=THREAD_WARNING_S)
            if running:
                log.warning(
                    "waiting for the thread of a timed out attempt of %s to end; "
                    "read current().cancelled in tasks that run long",
                    call_id,
                )

    def find_start(self, type: E, source_id: str | None = None) -> datetime:
        """Returns the time of the first event of a type, or the current time if there is none.

        `source_id` is the id of the call; by default, the event is one of the execution.
        """
        recorded = self.replay.find_first_time(type, source_id or self._source)
        # Events of other makers' servers may have the local time without a zone.
        return datetime.fromisoformat(recorded).astimezone() if recorded else self._now()

    def elapsed_s(self, since: datetime | str) -> float:
        """Returns the seconds since a time, at least 0: clocks of machines differ."""
        then = datetime.fromisoformat(since) if isinstance(since, str) else since
        return max(0.0, (self._now() - then.astimezone()).total_seconds())

    def _now(self) -> datetime:
        return self.environment.clock()

    async def wait_for_capacity(self) -> None:
        """Waits until the journal has capacity for the entries of another task."""
        await self._journal.wait_for_capacity()

    async def wait_until_stored(self) -> None:
        """Waits until the server has stored all entries so far."""
        await self._journal.wait_until_stored()

    def record_task(
        self, type: E, call_id: str, name: str, value: Any, *, value_text: str | None = None
    ) -> None:
        """Records an event of a call."""
        self._record(type, call_id, name, value, ExecutionState.RUNNING, value_text)

    def record_workflow(
        self, type: E, value: Any, state: ExecutionState, *, value_text: str | None = None
    ) -> None:
        """Records an event of the execution and its new state."""
        name = self.context.workflow_name
        self._record(type, self._source, name, value, state, value_text)

    def _record(
        self,
        type: E,
        source_id: str,
        name: str,
        value: Any,
        state: ExecutionState,
        value_text: str | None = None,
    ) -> None:
        if self._is_closed:
            raise asyncio.CancelledError("the run is closed")
        now = self.environment.clock()
        entry = create_entry(type, source_id, name, value, state, value_text=value_text, time=now)
        self._has_recorded = True
        if self._unrecorded_resume is not None:
            self._record_resumed()
        self._append(entry)

    def _record_resumed(self) -> None:
        resume, self._unrecorded_resume = self._unrecorded_resume, None
        if resume and not resume.is_recorded:
            entry = create_entry(
                E.WORKFLOW_RESUMED,
                self._source,
                self.context.workflow_name,
                resume.body,
                ExecutionState.RUNNING,
                value_text=resume.text,
                time=self.environment.clock(),
            )
            self._append(entry)

    def _append(self, entry: Entry) -> None:
        self.context._append(  # pyright: ignore[reportPrivateUsage]
            entry.event, entry.state
        )
        # Transient runs record only their start and their end.
        if not (self.is_transient and entry.event.type.startswith("TASK_")):
            self._journal.record(entry)


@dataclass(slots=True)
class Attempt:
    """One execution of a task's function: its number from 0, its deadline (UTC), its heartbeat."""

    number: int = 0
    deadline: datetime | None = None
    is_cancelled: bool = False
    heartbeat: Callable[[Any], None] | None = None
    heartbeat_details: Any = None


# Not frozen, although nothing changes it: each task creates one, in half the time.
@dataclass(slots=True)
class Scope:
    """Position of running code in a run: the run, the scope's path, and the current task.

    `branches` collects, for each saga around the code, the asyncio tasks that it waits for before
    it compensates; `is_compensating` is true in compensations, which run although the execution is
    cancelled.
    """

    run: Run
    path: str = ""
    call_id: str = ""
    task_name: str = ""
    attempt: Attempt = field(default_factory=Attempt)
    branches: tuple[set[asyncio.Task[Any]], ...] = ()
    is_compensating: bool = False
    is_sensitive: bool = False

    @property
    def is_cancelled(self) -> bool:
        """True if the code of this scope should end."""
        return self.run.is_closed or (self.run.is_cancelled and not self.is_compensating)


current_scope: ContextVar[Scope | None] = ContextVar("windlass_scope", default=None)


def require_scope() -> Scope:
    """Returns the scope of the calling code. Raises ExecutionContextNotFoundError outside a run."""
    scope = current_scope.get()
    if scope is None:
        raise ExecutionContextNotFoundError("tasks can be called only inside a workflow")
    return scope
