"""One run in a child, as the worker sees it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import copy_context
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Protocol

from windlass._entry import create_entry
from windlass._json import encode, loads
from windlass._narrow import is_list
from windlass._parking import WakeCondition
from windlass._services import NestedRun, WorkflowTarget
from windlass._trace import SpanRecord, current_traceparent, parse_traceparent
from windlass.domain.events import ExecutionEventType as E
from windlass.domain.state import ExecutionState
from windlass.worker._child_process import ChildProcess
from windlass.worker._child_services import to_error_members
from windlass.worker._frames import ChildFrame, FrameKind
from windlass.worker._line_buffer import LineBuffer
from windlass.worker._models import Assignment, Claim, Source
from windlass.worker._outbox import MAX_PENDING_EVENTS, Outbox
from windlass.worker._patient_timer import PatientTimer
from windlass.worker._progress_buffer import ProgressBuffer
from windlass.worker._run_services import RunServices

log = logging.getLogger("windlass.worker")

# Half of the server's limit, after which it ends the execution itself.
CANCEL_GRACE_S = 30.0
# Time for user code to end after its run has ended.
ABORT_GRACE_S = 10.0
# A child whose loop has not answered for this long is killed if a run in it must end.
BLOCKED_S = 5.0

SUBPROCESS = "subprocess"

_STATES = {state.value: state for state in ExecutionState}

# Encoded once: most executions are of few workflows.
MAX_ENCODED_SOURCES = 16


@dataclass(slots=True)
class ReceivedEntry:
    """Entry of a child: its JSON text and the execution state after it."""

    text: str
    state: ExecutionState


class Pool(Protocol):
    """Pool that assigns runs to children."""

    def assign(self, run: RemoteRun) -> ChildProcess:
        """Returns the child for a run."""
        ...

    def retire(self, child: ChildProcess) -> None:
        """Gives a child no more executions."""


class ChildOutbox(Outbox):
    """Outbox whose run waits in a child: it sends it the number of entries that have been taken."""

    def __init__(self, run: RemoteRun) -> None:
        loop = asyncio.get_running_loop()
        super().__init__(loop, loop)
        self._run = run
        self._taken = 0
        # Numbers of entries for which the child waits.
        self._awaited: list[int] = []

    def _wake_sender(self, action: Callable[[], None]) -> None:
        # Entries of a child arrive in the loop of the sender.
        action()

    def notify_when_stored(self, count: int) -> None:
        """Sends the entries, and STORED to the child once `count` of them are stored."""
        self._awaited.append(count)
        self.flush()
        self._signal_stored()

    def _signal_stored(self) -> None:
        if any(count <= self._stored for count in self._awaited):
            self._awaited = [count for count in self._awaited if count > self._stored]
            self._run.send(FrameKind.STORED, str(self._stored).encode())

    def _on_taken(self, count: int) -> None:
        self._taken += count
        if self._taken >= MAX_PENDING_EVENTS // 10:
            self._run.send(FrameKind.TAKEN, str(self._taken).encode())
            self._taken = 0


class RemoteRun:
    """Run of a claimed execution in a child. All methods run in the worker's loop."""

    def __init__(
        self,
        pool: Pool,
        number: int,
        assignment: Assignment,
        claim: Claim,
        services: RunServices,
        progress: ProgressBuffer,
        lines: LineBuffer | None,
        on_waiting: Callable[[], None],
    ) -> None:
        self.number = number
        self.execution_id = claim.context.execution_id
        self.is_alone = assignment.runner == SUBPROCESS or claim.attempt > 1
        self.is_crashed = False
        self.is_abandoned = False
        self.condition: WakeCondition | None = None
        self._child_outbox = ChildOutbox(self)
        self.outbox: Outbox = self._child_outbox
        self._pool = pool
        self._assignment = assignment
        self._claim = claim
        self._services = services
        self._progress = progress
        self._lines = lines
        self._on_waiting = on_waiting
        self._child: ChildProcess | None = None
        self._calls: dict[int, asyncio.Task[None]] = {}
        self._timer: PatientTimer | None = None
        self._is_ended = False

    def start(self) -> None:
        """Sends the execution to a child."""
        trace = self._services.trace
        header = {
            "transient": self._assignment.transient,
            "authorizes_tasks": self._services.authorizes_tasks,
            "park_after_s": self._services.park_after_s,
            "captures_lines": self._lines is not None,
            "is_cancelled": self._timer is not None,
            "traceparent": trace.context.traceparent if trace else None,
        }
        self._child = self._pool.assign(self)
        members = f'{{"source": {_encode(self._assignment.source)}, {json.dumps(header)[1:]}'
        self._child.add_run(self, f"{members}\n{self._claim.text}".encode())

    def cancel(self) -> None:
        """Cancels the workflow; CANCEL_GRACE_S after the first cancel, the worker ends it."""
        if self._timer is not None or self._is_ended:
            return
        self.send(FrameKind.CANCEL)
        self._set_timer(CANCEL_GRACE_S, self._on_cancel_ignored)

    def abort(self) -> None:
        """Stops the workflow without recording anything more."""
        if self._child is None or self.is_abandoned:
            return
        self.is_abandoned = True
        self._stop_calls()
        self.send(FrameKind.ABORT)
        self._child.end_if_idle()
        self._set_timer(ABORT_GRACE_S, self._on_abort_ignored)

    def park_early(self) -> None:
        """Parks the run if it still only waits."""
        self.send(FrameKind.PARK_EARLY)

    def send(self, kind: FrameKind, payload: bytes = b"") -> None:
        """Sends a frame about this run, unless it has ended."""
        if self._child is not None and self.number in self._child.runs:
            self._child.send(kind, self.number, payload)

    def handle(self, frame: ChildFrame) -> None:
        """Handles a frame of the child about this run."""
        match frame.kind:
            case FrameKind.ENTRY:
                name, _, text = frame.payload.decode().partition("\n")
                if (state := _STATES.get(name)) is None:
                    raise ValueError(f"an entry with the unknown state {name!r}")
                if not self.is_abandoned:
                    self.outbox.record(ReceivedEntry(text, state))
            case FrameKind.PROGRESS:
                if not self.is_abandoned:
                    self._progress.add_item(frame.payload.decode())
            case FrameKind.LINE:
                if not self.is_abandoned and self._lines is not None:
                    self._lines.add(frame.payload.decode())
            case FrameKind.CALL:
                self._begin_call(loads(frame.payload))
            case FrameKind.DROP_CALL:
                if call := self._calls.get(int(frame.payload)):
                    call.cancel()
            case FrameKind.WAITING:
                if not self.is_abandoned:
                    self._on_waiting()
            case FrameKind.PARK:
                if not self.is_abandoned:
                    self.condition = WakeCondition.from_wire(loads(frame.payload))
            case FrameKind.FLUSH:
                self._child_outbox.notify_when_stored(int(frame.payload))
            case FrameKind.SPAN:
                self._record_span(loads(frame.payload))
            case FrameKind.END:
                self._end()
            case _:
                pass

    def on_child_ended(self, *, crashed: bool) -> None:
        """Ends the run because its child has ended."""
        self.is_crashed = crashed
        self._end()

    def _end(self) -> None:
        self._is_ended = True
        self._stop_calls()
        if self._timer is not None:
            self._timer.cancel()
        self.outbox.close()

    def _set_timer(self, delay_s: float, on_time: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = PatientTimer(delay_s, on_time)

    def _on_cancel_ignored(self) -> None:
        """Ends a cancelled execution whose code still runs."""
        log.warning("execution %s ignores its cancellation; its child ends", self.execution_id)
        name = self._claim.context.workflow_name
        source = f"{name}_{self.execution_id}"
        state = ExecutionState.CANCELLED
        message = (
            f"its code still ran {CANCEL_GRACE_S:g} s after the cancel; compensations without an "
            "outcome in the log have not run"
        )
        value = {"reason": "cancel_ignored", "message": message}
        self.outbox.record(create_entry(E.WORKFLOW_CANCELLED, source, name, value, state))
        self.outbox.close()
        self.abort()
        self._on_abort_ignored()

    def _on_abort_ignored(self) -> None:
        """Retires the child in which code of this run still runs, or kills it if it is blocked."""
        child = self._child
        if child is None or self.number not in child.runs:
            return
        self._pool.retire(child)
        if child.unanswered_s() > BLOCKED_S:
            child.kill()

    def _stop_calls(self) -> None:
        for call in self._calls.values():
            call.cancel()

    def _record_span(self, members: Mapping[str, Any]) -> None:
        trace = self._services.trace
        if trace is None:
            return
        # Code of the workflow could send anything: the trace is that of the run.
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            trace.record(SpanRecord.from_wire(trace.context.trace_id, members))

    def _begin_call(self, request: Mapping[str, Any]) -> None:
        if self.is_abandoned:
            return
        number = int(request["id"])
        context = copy_context()
        context.run(current_traceparent.set, self._traceparent_of(request))
        answer = self._answer(number, request["method"], request["args"])
        call = asyncio.create_task(answer, context=context)
        self._calls[number] = call
        call.add_done_callback(lambda _: self._calls.pop(number, None))

    def _traceparent_of(self, request: Mapping[str, Any]) -> str | None:
        trace, context = self._services.trace, parse_traceparent(request.get("traceparent"))
        is_own = trace and context and context.trace_id == trace.context.trace_id
        return context.traceparent if context and is_own else None

    async def _answer(self, number: int, method: str, args: list[Any]) -> None:
        try:
            answer = {"id": number, "result": await self._call(method, args)}
        except Exception as error:
            answer = {"id": number, "error": to_error_members(error)}
        self.send(FrameKind.ANSWER, encode(answer).encode())

    async def _call(self, method: str, args: list[Any]) -> Any:
        services = self._services
        match method, args:
            case "fetch_secrets", [names, bool(previous)] if is_list(names):
                return await services.fetch_secrets(names, previous=previous)
            case "fetch_configs", [names] if is_list(names):
                return await services.fetch_configs(names)
            case "authorize_task", [str(task_name)]:
                return await services.authorize_task(task_name)
            case "request_approval", [str(call_id), str(task_name)]:
                return await services.request_approval(call_id, task_name)
            case "find_approval", [str(call_id)]:
                found = await services.find_approval(call_id)
                return None if found is None else asdict(found)
            case "start_workflow", [*nested]:
                return await services.start_workflow(_to_nested_run(*nested))
            case "run_workflow", [*nested, bool(fails_if_paused)]:
                run = _to_nested_run(*nested)
                return await services.run_workflow(run, fails_if_paused=fails_if_paused)
            case "cancel_workflow", [str(execution_id)]:
                return await services.cancel_workflow(execution_id)
            case _:
                raise ValueError(f"unknown service {method!r}")


@lru_cache(MAX_ENCODED_SOURCES)
def _encode(source: Source) -> str:
    return json.dumps(asdict(source))


def _to_nested_run(namespace: str, name: str, input: Any, key: str, on_cancel: Any) -> NestedRun:
    if on_cancel not in {"cancel", "leave"}:
        raise ValueError(f"on_cancel must be cancel or leave, not {on_cancel!r}")
    return NestedRun(WorkflowTarget(str(namespace), str(name)), input, str(key), on_cancel)
