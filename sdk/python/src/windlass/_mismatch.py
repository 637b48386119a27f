"""Mismatches: a changed workflow must not repeat recorded steps unseen.

The problem
-----------
A run finds the outcome of a call by its id, which contains the task's name and arguments. If a new
version of the source renames a task or changes an argument, the call is new, and an execution in
flight would perform the step a second time.

The rule
--------
The *scope* of a call is the code in which it was made: the workflow's body, one attempt of a task,
or one branch of `parallel`. A call is a mismatch if

1. the log does not contain it, and
2. the log contains calls of the same scope that this run has not made yet, and
3. nothing else in the run can still make them.

Scopes are compared each on its own because only within a scope is the order of calls the same in
every run. A task with a recorded outcome is not entered again, so the calls inside it never count.

Condition 3 is for concurrent code in one scope (`asyncio.gather`, TaskGroup): one coroutine may
make its first new call before another has repeated its recorded ones. If the run has one asyncio
task only, the decision is immediate. Otherwise the call is held. It is released when the recorded
calls of its scope have been made, and it is a mismatch when the run has made no recorded call for
two seconds (SETTLE_LOOKS). A recorded call of the same scope that runs again may be what the others
wait for, for example until its timeout: as long as it runs, the call is held.

What happens
------------
With `on_mismatch="pause"` (the default) the execution pauses under the name `nondeterminism` before
anything of the new call has run. The output of the pause names both sides. It is resumed with

    "continue"    the recorded calls are given up and the new call runs; all later runs agree
    "fail"        the execution fails with NondeterminismError
    null          the run is checked again, for example with a corrected version of the source

With `"fail"` it fails at once; with `"continue"` nothing is checked. A cancelled run is not checked
either, since its cleanup may begin anywhere. Recorded calls that a run ends without are no
mismatch: nothing runs twice. `windlass-check` reports them.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Protocol

from windlass._child_tasks import ChildTasks
from windlass._narrow import is_object
from windlass._recorded_calls import RecordedCall, hash_scope, list_recorded_calls, scope_of
from windlass._replay import Replay
from windlass._resumes import Recorder, record_resumed
from windlass.domain.events import ExecutionEventType as E
from windlass.domain.execution_context import ExecutionContext
from windlass.errors import ExecutionStopped, NondeterminismError, PauseRequested

log = logging.getLogger("windlass.run")

PAUSE_NAME = "nondeterminism"
# Between two looks at the progress of a replay.
CATCH_UP_S = 0.05
# A replay without progress for so many looks has ended. Not counted as a time: while the loop is
# blocked, the code of the run cannot make its calls.
SETTLE_LOOKS = 40
# For so many looks, half a minute, a value that is being loaded counts as progress: a storage that
# hangs must not stop the timeout of the workflow.
LOAD_LOOKS = 600

# Tasks around other calls: their ids change with the calls inside, so they explain nothing.
_COMPOSITE = {"parallel", "pipeline", "first", "as_completed"}


class GuardedRun(Recorder, Protocol):
    """Run whose calls are compared with its log."""

    context: ExecutionContext[Any]
    replay: Replay
    version: int | None
    is_transient: bool
    is_cancel_due: bool
    children: ChildTasks
    compensations: ChildTasks

    @property
    def is_cancelled(self) -> bool:
        """True once cancellation of the execution was requested."""
        ...


class MismatchGuard:
    """Compares the calls of one run with those of the log at its start."""

    def __init__(self, run: GuardedRun) -> None:
        self.mode = "pause"
        self.signal: BaseException | None = None
        self._run = run
        calls = list_recorded_calls(run.context.events) if not run.is_transient else []
        # Scopes of the calls in the log, by id.
        self._recorded = {call.id: call.scope for call in calls}
        self._unrequested: dict[str, dict[str, RecordedCall]] = {}
        # Calls that the log lacks, by id, with the place of their creation, until they run.
        self._new: dict[str, str] = {}
        self._entered = {""}
        self._running: dict[str, set[str]] = {}
        self._matched: dict[str, asyncio.Event] = {}
        # Values of recorded calls that are being loaded from a storage.
        self._loading = 0
        self._has_loaded = False
        self._load_looks = 0
        self._quiet_looks = 0
        self._looked_at = 0.0
        for call in calls:
            self._unrequested.setdefault(call.scope, {})[call.id] = call
        for event in run.context.events if calls else ():
            if event.type == E.TASK_STARTED and event.source_id.startswith(f"{PAUSE_NAME}:"):
                self._apply_decision(event.source_id, event.value)

    @property
    def is_idle(self) -> bool:
        """True if this run has made all calls of the log, so that none needs a comparison."""
        return not self._unrequested

    @property
    def is_loading(self) -> bool:
        """True until the code that awaits the value of a recorded call has had time to use it."""
        return self._loading > 0 or self._has_loaded

    @contextmanager
    def loading(self) -> Generator[None, None, None]:
        """Notes that the value of a recorded call is being loaded."""
        self._loading += 1
        try:
            yield
        finally:
            self._loading -= 1
            self._load_looks = 0
            # The code that awaits it may be in another asyncio task, and continue a little later.
            self._has_loaded = True

    def request(self, call_id: str, place: str) -> None:
        """Notes that the run has created a call."""
        scope = self._recorded.get(call_id)
        if scope is None:
            self._entered.add(scope_of(call_id))
            self._new[call_id] = place
            return
        self._entered.add(scope)
        self._quiet_looks = 0
        calls = self._unrequested.get(scope, {})
        calls.pop(call_id, None)
        if not calls:
            self._release(scope)

    @property
    def new_calls(self) -> dict[str, str]:
        """Places of the calls that the log lacks and that have not run, by id."""
        return self._new

    def find_unrequested(self, path: str) -> list[RecordedCall]:
        """Returns the recorded calls of a scope that this run has not made, in their order."""
        return list(self._unrequested.get(hash_scope(path), {}).values())

    def list_unrequested(self) -> list[RecordedCall]:
        """Returns the recorded calls that this run has not made in the scopes that it entered."""
        scopes = [calls for scope, calls in self._unrequested.items() if scope in self._entered]
        return sorted((call for calls in scopes for call in calls.values()), key=lambda c: c.step)

    def is_behind(self) -> bool:
        """Returns true while calls of the log are expected that this run has not made yet.

        What ends its code early, such as a timeout, must wait: an earlier run had come further.
        To be called every CATCH_UP_S: SETTLE_LOOKS calls without progress make it false.
        """
        if self._is_after_load():
            return True
        return bool(self.list_unrequested()) and not self._has_settled()

    def entering(self, call_id: str) -> _Entering:
        """Returns the context in which a call runs. A new call is held or refused before it."""
        return _Entering(self, call_id)

    async def enter(self, call_id: str) -> None:
        """Starts a call that is in the log; holds a new one, and refuses it if it is a mismatch."""
        recorded_scope = self._recorded.get(call_id)
        if recorded_scope is not None:
            self._running.setdefault(recorded_scope, set()).add(call_id)
            return
        scope = scope_of(call_id)
        if scope in self._unrequested and self._is_checked and self._is_concurrent():
            await self._hold(call_id, scope)
        if scope in self._unrequested and self._is_checked:
            self._refuse(call_id, scope)
        self._new.pop(call_id, None)

    def leave(self, call_id: str) -> None:
        """Ends a call."""
        self._running.get(scope_of(call_id), set()).discard(call_id)
        self._quiet_looks = 0

    def stop(self, message: str, recorded: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        """Pauses or fails the execution because of a mismatch that has no new call to run."""
        output = {"message": message, "recorded": recorded, "new": new, "unrequested": 0}
        self._decide(f"{PAUSE_NAME}:{_digest([message])}", output, [])

    def _is_after_load(self) -> bool:
        """Returns true while a value is being loaded, for LOAD_LOOKS, and once afterwards."""
        if not self._loading and not self._has_loaded:
            return False
        self._has_loaded = False
        self._quiet_looks = 0
        self._load_looks += 1
        return self._load_looks <= LOAD_LOOKS

    def _has_settled(self) -> bool:
        """Looks at the progress; returns true if there was none in the last SETTLE_LOOKS looks."""
        now = asyncio.get_running_loop().time()
        # Several places may look during the same interval.
        if now - self._looked_at > CATCH_UP_S / 2:
            self._looked_at = now
            self._quiet_looks += 1
        return self._quiet_looks > SETTLE_LOOKS

    def _release(self, scope: str) -> None:
        self._unrequested.pop(scope, None)
        if scope in self._matched:
            self._matched.pop(scope).set()

    @property
    def _is_checked(self) -> bool:
        run = self._run
        return self.mode != "continue" and not (run.is_cancelled or run.is_cancel_due)

    def _is_concurrent(self) -> bool:
        run = self._run
        return bool(run.children.find_running() or run.compensations.find_running())

    async def _hold(self, call_id: str, scope: str) -> None:
        """Waits until the scope has no unrequested calls, or none is to be expected any more."""
        matched = self._matched.setdefault(scope, asyncio.Event())
        self._quiet_looks = 0
        has_warned = False
        while scope in self._unrequested:
            has_settled = self._has_settled()
            if has_settled and not self._running.get(scope):
                return
            if has_settled and not has_warned:
                has_warned = True
                log.warning("the call %s waits: the log has other calls, which may follow", call_id)
            with suppress(TimeoutError):
                # What it waits for may take hours.
                async with asyncio.timeout(CATCH_UP_S * (SETTLE_LOOKS if has_settled else 1)):
                    await matched.wait()

    def _refuse(self, call_id: str, scope: str) -> None:
        """Ends the run, unless the resume of an earlier one said to continue."""
        calls = list(self._unrequested[scope].values())
        recorded, new_id = self._pick_pair(call_id, scope, calls)
        place = self._new.get(new_id, "an unknown place")
        version = self._run.version
        new = {"call_id": new_id, "name": _name_of(new_id), "place": place, "version": version}
        output = {
            "message": f"the call {new_id} at {place} is not in the log, whose step "
            f"{recorded.step}, {recorded.id}, this run has not made",
            "recorded": {
                "call_id": recorded.id,
                "name": recorded.name,
                "step": recorded.step,
                "time": recorded.time,
                "version": self._run.replay.paused_version or version,
            },
            "new": new,
            "unrequested": len(calls),
        }
        ids = [call.id for call in calls]
        self._decide(f"{PAUSE_NAME}:{_digest(ids)}", output, ids)
        self._release(scope)

    def _decide(self, pause_id: str, output: dict[str, Any], unrequested: list[str]) -> None:
        resume = self._run.replay.resume
        decision, refused = None, None
        if resume is not None and resume.call_id == pause_id:
            decision = resume.body
            if decision == "continue" or decision == "fail":
                record_resumed(self._run, pause_id, PAUSE_NAME, PAUSE_NAME, resume)
            elif decision is not None:
                refused = 'the body must be "continue", "fail" or null'
        if decision == "continue":
            return
        if self.mode == "fail" or decision == "fail":
            self.signal = ExecutionStopped(NondeterminismError(str(output["message"])))
            raise self.signal
        value = {"name": PAUSE_NAME, "output": output, "unrequested": unrequested}
        self._run.record_task(E.TASK_STARTED, pause_id, PAUSE_NAME, value)
        self._run.record_task(E.TASK_PAUSED, pause_id, PAUSE_NAME, PAUSE_NAME)
        self.signal = PauseRequested(PAUSE_NAME, output, refused)
        raise self.signal

    def _apply_decision(self, pause_id: str, value: Any) -> None:
        """Gives up the calls of a mismatch that was resumed with `continue`."""
        if self._run.replay.find_plain(pause_id) != "continue" or not is_object(value):
            return
        for call_id in value.get("unrequested") or ():
            scope = scope_of(call_id)
            calls = self._unrequested.get(scope, {})
            calls.pop(call_id, None)
            if not calls:
                self._release(scope)

    def _pick_pair(
        self, call_id: str, scope: str, calls: list[RecordedCall]
    ) -> tuple[RecordedCall, str]:
        """Returns the recorded and the new call to show: those inside of a `parallel`, if any."""
        created = [new_id for new_id in self._new if scope_of(new_id) == scope]
        recorded = [call for call in calls if call.name not in _COMPOSITE]
        new = [new_id for new_id in created if _name_of(new_id) not in _COMPOSITE]
        if _name_of(call_id) in _COMPOSITE and recorded and new:
            return recorded[0], new[0]
        return calls[0], call_id


class _Entering:
    """Context of a running call; see `MismatchGuard.entering`."""

    __slots__ = ("_call_id", "_guard")

    def __init__(self, guard: MismatchGuard, call_id: str) -> None:
        self._guard = guard
        self._call_id = call_id

    async def __aenter__(self) -> None:
        await self._guard.enter(self._call_id)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._guard.leave(self._call_id)


def _name_of(call_id: str) -> str:
    return call_id[: call_id.rindex("_")] if "_" in call_id else call_id


def _digest(parts: list[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
