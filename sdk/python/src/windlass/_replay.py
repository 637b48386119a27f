"""Replay: continues an execution from its log without repeating recorded work.

The problem
-----------
An execution may take months and outlive every worker that runs it. A Python coroutine cannot be
saved and moved to another process. Windlass therefore saves no coroutine, only the outcomes of
tasks: to continue an execution, a worker runs the body of the workflow again from its first line,
and calls whose outcome is in the log return it at once. The body has then reached the point where
the last run stopped, with the same local variables, and new calls run for the first time.

    log before:    STARTED   a done   b done   c started
                      |         |        |         |
    body:          def w():  a()      b()       c()               d()
                             replayed  replayed  runs again        runs
                                                   |                 |
    new entries:                          c started, c done   d started, d done   COMPLETED

Identity of a call
------------------
A call finds its outcome by its id, not by its position in the log (`_call_id`, `Run.assign_id`):

    fetch_3f2a9c01b4d5e678             task name and hash of name and arguments
    fetch_3f2a9c01b4d5e678@81bc...     the same inside a scope: an attempt of a task or a branch
    fetch_3f2a9c01b4d5e678@81bc...#2   the second equal call of that scope

The number is assigned when the call is created, not when it is awaited. Calls of different scopes
never share a counter, so concurrent tasks and branches of `parallel` keep their ids, whichever runs
first. The body only has to make the same calls with the same arguments; a call whose arguments
differ is a new call; `_mismatch` describes when that ends the run.

Recording
---------
A value becomes JSON text when it is recorded (`_entry`); later changes of the object do not matter.
Entries go to the journal in the order in which they happen. The worker sends them in that order,
one checkpoint at a time; entries that arrive during a checkpoint form the next one. The log of the
server is therefore always a prefix of what the run recorded. A checkpoint may be repeated, because
the server appends an event id once, and it carries the claim generation, so that a worker which has
lost its claim cannot write. New tasks wait while 10,000 entries are unsent.

One call of a task (`_task_execution`)
--------------------------------------
    outcome in the log? -- TASK_COMPLETED ----------------------------> return it
      |                 -- TASK_FAILED, TASK_FALLBACK_FAILED ---------> raise it
      | no
    result in the log? -- TASK_RETRY_COMPLETED, TASK_FALLBACK_COMPLETED -> record TASK_COMPLETED
      | no
    permission, approval, TASK_STARTED
      |
    attempts 0..n -- success -----------------------------------------> TASK_COMPLETED, return
      | all failed
    fallback ------- success -----------------------------------------> TASK_COMPLETED, return
      | none
    rollback, TASK_FAILED --------------------------------------------> raise

Retries: each failed attempt of a task with retries is recorded. The next worker continues with the
first attempt that has not failed, after the rest of its delay; an attempt that was interrupted runs
again.
Fallback and rollback: run again if they were interrupted; so does the only attempt of a task
without retries.
Timeouts: `timeout` and `heartbeat_timeout` bound one attempt in one process; an interrupted attempt
starts with its full time. `total_timeout` and a workflow's `timeout` count from the recorded start.
Heartbeats: details are recorded every ten seconds, and when an attempt fails, as another
TASK_STARTED of the call, from which the next attempt reads them, also on another worker.
`sleep`: takes its start from the log and waits only for the remaining time.
Approvals: requested once for each attempt; the log shows whether the request was made.

Pauses
------
`pause` records TASK_PAUSED with its name and raises PauseRequested, a BaseException, which ends the
run with WORKFLOW_PAUSED. A paused execution occupies no worker. A resume appends WORKFLOW_RESUMING
with a body. `Replay` assigns it to the call whose TASK_PAUSED has the name in the last
WORKFLOW_PAUSED; that call takes the body and records TASK_RESUMED and TASK_COMPLETED. Until then
the resume stays pending, so it survives the loss of the worker that received it. The body is
spliced into these events as text: it may contain numbers that Python cannot write again.

Guaranteed
----------
- A call whose TASK_COMPLETED the server has acknowledged never runs again in this execution; later
  runs return the recorded value. A recorded failure is raised with the same message and, if it can
  be found, the same class.
- An execution with a deterministic body that is interrupted after any event ends with the same
  outcome as an uninterrupted one (`tests/test_replay.py` cuts the log after each event).

Not guaranteed
--------------
- Exactly-once effects. The run does not wait for the acknowledgement of an entry: the task whose
  record was lost, and later ones, run again. Tasks must tolerate repetition.
- Equal ids of equal calls in coroutines that `asyncio.gather` runs without `parallel`.
- Anything for code outside tasks: it runs in every run.
- Continuation of transient runs: only their start and end are recorded. A second run fails instead
  of running the body again, also if the first worker died before it could record its start.

Measurements
------------
A hello-world execution (one task, four entries of the worker) costs the worker 2.0 CPU-ms alone and
1.0 at 32 in flight. The replay of 10,000 finished calls takes 0.13 CPU-s in sequence and 0.19 in
parallel (`bench/README.md`).

Alternatives
------------
- Ids without `#n`: equal calls share an outcome, so a second `now()` returns the first time and a
  second equal `pause` never pauses.
- Positions in the log, or one counter for the whole execution: concurrent calls change places
  between runs, and an inserted call in a new version of the source shifts all later ones.
- A round trip to the server for each entry: adds the latency of a checkpoint to every task.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from windlass._narrow import is_object
from windlass.domain.events import ExecutionEvent
from windlass.domain.events import ExecutionEventType as E
from windlass.output_storage import parse_reference

# Member of a TASK_STARTED that records a heartbeat; no argument has this name.
HEARTBEAT = "~heartbeat"
# Member of the TASK_STARTED of the first compensation of a saga: the calls of all of them.
COMPENSATIONS = "~compensations"

# Text, which is compared in a fraction of the time of a member of an enum.
_STARTED, _COMPLETED = E.TASK_STARTED.value, E.TASK_COMPLETED.value


@dataclass(slots=True)
class Completed:
    """Call that returned; `value` is plain or a storage reference, as in the log."""

    value: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """Call that raised; `failure` is the record of `_failures.describe_failure`."""

    failure: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """Last failed attempt of a call: its number from 0, its failure and the event's time."""

    number: int
    failure: Mapping[str, Any]
    time: str
    is_last: bool


@dataclass(frozen=True, slots=True)
class Resume:
    """Pending resume: no pause has consumed its body yet. `text` is the JSON of the body."""

    body: Any
    call_id: str | None
    text: str | None = None
    is_recorded: bool = False
    is_task_recorded: bool = False


class Replay:
    """Index of an execution's log by call id."""

    def __init__(self, events: Iterable[ExecutionEvent], resume_text: str | None = None) -> None:
        self.is_started = False
        self.is_finished = False
        # Number of claims, the current one included; 0 without a server.
        self.claims = 0
        self.resume: Resume | None = None
        # Values, not objects with them: the garbage collector visits each object of a long log.
        self._completed: dict[str, Any] = {}
        self._failed: dict[str, Failed] = {}
        self._results: dict[str, Any] = {}
        self._attempts: dict[str, FailedAttempt] = {}
        self._heartbeats: dict[str, Any] = {}
        self._times: dict[tuple[str, str], str] = {}
        self._pauses: dict[str, str] = {}
        self._pausing: str | None = None
        # Version of the source whose run paused last; None if its worker did not record it.
        self.paused_version: int | None = None
        # Belongs to the last resume, which replaces any earlier one.
        self._resume_text = resume_text
        for event in events:
            self._apply(event)

    def find_outcome(self, call_id: str) -> Completed | Failed | None:
        """Returns the recorded outcome of a call, or None."""
        if call_id in self._completed:
            return Completed(self._completed[call_id])
        return self._failed.get(call_id)

    def has_outcome(self, call_id: str) -> bool:
        """Returns true if the log has an outcome of a call."""
        return call_id in self._completed or call_id in self._failed

    def find_result(self, call_id: str) -> Completed | None:
        """Returns the result of a retry or fallback whose TASK_COMPLETED is missing, or None."""
        return Completed(self._results[call_id]) if call_id in self._results else None

    def find_failed_attempt(self, call_id: str) -> FailedAttempt | None:
        """Returns the last failed attempt of a call with retries, or None."""
        return self._attempts.get(call_id)

    def find_heartbeat(self, call_id: str) -> Any:
        """Returns the details of the last recorded heartbeat of a call, or None."""
        return self._heartbeats.get(call_id)

    def add_heartbeat(self, call_id: str, details: Any) -> None:
        """Adds a heartbeat that was recorded in this run."""
        self._heartbeats[call_id] = details

    def find_plain(self, call_id: str) -> Any:
        """Returns the recorded result of a call as JSON, or None."""
        value = self._completed.get(call_id)
        reference = parse_reference(value)
        return reference.metadata.get("value") if reference else value

    def find_first_time(self, type: str, call_id: str) -> str | None:
        """Returns the time of the first event of a type of a call, or None."""
        return self._times.get((type, call_id))

    def _apply(self, event: ExecutionEvent) -> None:
        kind, call_id = event.type, event.source_id
        self._times.setdefault((kind, call_id), event.time)
        # Nearly all events are of these two types.
        if kind == _COMPLETED:
            self._failed.pop(call_id, None)
            self._completed[call_id] = event.value
            if self.resume and self.resume.call_id == call_id:
                self.resume = None
        elif kind == _STARTED:
            if is_object(event.value) and HEARTBEAT in event.value:
                self._heartbeats[call_id] = event.value[HEARTBEAT]
        elif kind.startswith("TASK_"):
            self._apply_task(kind, call_id, event.value, event.time)
        else:
            self._apply_workflow(kind, event.value)

    def _apply_workflow(self, type: str, value: Any) -> None:
        match type:
            case E.WORKFLOW_CLAIMED | E.WORKFLOW_RESUME_CLAIMED:
                self.claims += 1
            case E.WORKFLOW_STARTED:
                self.is_started = True
            case E.WORKFLOW_COMPLETED | E.WORKFLOW_FAILED | E.WORKFLOW_CANCELLED:
                self.is_finished = True
            case E.WORKFLOW_PAUSED:
                # A body belongs to the pause of the last run, not to a later one.
                self.resume = None
                self._pausing = self._pauses.get(str(_member(value, "name", None)))
                self.paused_version = _member(value, "version", None)
            case E.WORKFLOW_RESUMING:
                self.resume = Resume(value, self._pausing, self._resume_text)
            case E.WORKFLOW_RESUMED if self.resume:
                self.resume = replace(self.resume, is_recorded=True)
            case _:
                pass

    def _apply_task(self, type: str, call_id: str, value: Any, time: str) -> None:
        match type:
            case E.TASK_FAILED | E.TASK_FALLBACK_FAILED:
                self._completed.pop(call_id, None)
                self._failed[call_id] = _to_failed(value)
            case E.TASK_PAUSED:
                self._pauses[str(value)] = call_id
            case E.TASK_RESUMED if self.resume and self.resume.call_id == call_id:
                self.resume = replace(self.resume, is_task_recorded=True)
            case E.TASK_RETRY_FAILED:
                self._attempts[call_id] = FailedAttempt(
                    number=_member(value, "current_attempt", 0),
                    failure=_member(value, "failure", {}),
                    time=time,
                    is_last=_member(value, "final", False) is True,
                )
            case E.TASK_RETRY_COMPLETED:
                self._results[call_id] = _member(value, "output", None)
            case E.TASK_FALLBACK_COMPLETED:
                self._results[call_id] = value
            case _:
                pass


def _to_failed(value: Any) -> Failed:
    reference = parse_reference(value)
    recorded = reference.metadata.get("value") if reference else value
    return Failed(recorded if is_object(recorded) else {})


def _member(value: Any, name: str, default: Any) -> Any:
    return value.get(name, default) if is_object(value) else default
