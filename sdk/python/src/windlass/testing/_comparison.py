"""Replay of an exported execution against a source, with every new call forbidden.

The recorded outcomes are returned as in a real run. A call without one is not run: it waits, and
with it the code behind it. What has then been requested is compared with the log:

- `same`: the run makes all calls of the log; the next ones would run for the first time.
- `waiting`: the same, and it waits where the execution waits: at the same pause, or at calls that
  have started.
- `different`: the run leaves calls of the log out, or makes others in their place, or ends in
  another way. `step` is the position of the first such call in the log, from 1.

The code of the workflow outside of tasks runs, and so do functions that are nodes of a graph.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from windlass._mismatch import PAUSE_NAME, MismatchGuard
from windlass._narrow import is_object
from windlass._recorded_calls import RecordedCall, list_recorded_calls
from windlass.domain.events import ExecutionEvent
from windlass.domain.events import ExecutionEventType as E
from windlass.testing._engine import START, Engine, Execution
from windlass.workflow import Workflow

# Virtual time for timers of the workflow's own, such as `asyncio.sleep`.
TIMERS = timedelta(hours=1)

# Types of the events with which a run ends.
SETTLED = {E.WORKFLOW_PAUSED, E.WORKFLOW_COMPLETED, E.WORKFLOW_FAILED, E.WORKFLOW_CANCELLED}


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """Result of a replay; see the verdicts above.

    Attributes:
        execution_id: id of the execution.
        workflow: namespace and name of the workflow.
        state: state of the execution when it was exported.
        verdict: `"same"`, `"waiting"` or `"different"`.
        step: position of the first differing call in the log, from 1, or None.
        message: the difference, or the place at which the execution waits.
    """

    execution_id: str
    workflow: str
    state: str
    verdict: Literal["same", "waiting", "different"]
    step: int | None
    message: str


async def replay(
    workflow: Workflow[Any, Any], exported: str | Path | Mapping[str, Any]
) -> ReplayReport:
    """Replays an exported execution against a workflow, without running anything new.

    `exported` is what `handle.export()` returns, or the path of its file. Raises AssertionError
    with the first difference.
    """
    if isinstance(exported, Mapping):
        report = await compare(workflow, exported)
    else:
        text = await asyncio.to_thread(Path(exported).read_text, "utf-8")
        report = await compare(workflow, json.loads(text))
    if report.verdict == "different":
        raise AssertionError(f"the execution {report.execution_id} {report.message}")
    return report


async def compare(workflow: Workflow[Any, Any], exported: Mapping[str, Any]) -> ReplayReport:
    """Returns the report of a replay. Raises ValueError for what is not an exported execution."""
    try:
        events = [ExecutionEvent.from_wire(event) for event in exported["events"]]
        execution_id, state = str(exported["execution_id"]), str(exported["state"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is not an exported execution with its log: {error!r}") from error
    last = events[-1] if events and events[-1].type in SETTLED else None
    log = events[:-1] if last else events
    frontier: list[str] = []
    is_closing = False

    async def hold(call_id: str) -> None:
        if is_closing:
            raise asyncio.CancelledError("the replay has ended")
        frontier.append(call_id)
        await asyncio.Event().wait()

    start = datetime.fromisoformat(log[-1].time) if log and log[-1].time else START
    with Engine(start=start) as engine:
        engine.environment = replace(engine.environment, hold=hold)
        try:
            execution = await engine.continue_from(workflow, exported.get("input"), log)
            if _guard(execution).list_unrequested():
                await engine.advance_until_settled(execution, TIMERS)
            comparison = _Comparison(execution, log, last, frontier)
            step, difference = comparison.find_difference()
            place = comparison.describe_place()
        finally:
            is_closing = True
    verdict: Any = "different" if difference else "waiting" if place else "same"
    message = difference or (f"waits at the same place: {place}" if place else "same")
    name = workflow.qualified_name
    return ReplayReport(execution_id, name, state, verdict, step, message)


@dataclass(frozen=True, slots=True)
class _Comparison:
    execution: Execution
    log: Sequence[ExecutionEvent]
    last: ExecutionEvent | None
    frontier: Sequence[str]

    def find_difference(self) -> tuple[int | None, str]:
        calls = list_recorded_calls(self.log)
        execution = self.execution
        output = execution.pause_output
        if execution.paused_on == PAUSE_NAME and is_object(output):
            recorded, new = output["recorded"], output["new"]
            step = recorded.get("step")
            name = f"{recorded['name']} ({recorded['call_id']})"
            made = f"{new['name']} at {new['place']}"
            return step, f"differs at step {step}: the log has {name}, the source makes {made}"
        missing = _guard(execution).list_unrequested()
        if missing:
            return missing[0].step, self._describe_missing(missing[0])
        if execution.state == "FAILED" and not self._has_ended_with(E.WORKFLOW_FAILED):
            failure = execution.output
            reason = f"{failure['type']}: {failure['message']}"
            return len(calls) + 1, f"differs after step {len(calls)}: it fails with {reason}"
        return self._compare_end(len(calls))

    def describe_place(self) -> str:
        """Returns the pause or the started calls at which the execution waits."""
        if self.last is not None and self.last.type == E.WORKFLOW_PAUSED:
            return str(self.execution.paused_on)
        recorded = {call.id: call.name for call in list_recorded_calls(self.log)}
        return ", ".join(recorded[call_id] for call_id in self.frontier if call_id in recorded)

    def _compare_end(self, count: int) -> tuple[int | None, str]:
        """Compares the end of the log with that of the replay."""
        state = str(self.execution.state)
        if self.last is None or self.last.type == E.WORKFLOW_CANCELLED:
            return None, ""
        expected = self.last.type.removeprefix("WORKFLOW_")
        differs = f"differs after step {count}: "
        if expected != state:
            return count + 1, f"{differs}it is {state} instead of {expected}{self._describe_new()}"
        if expected == "COMPLETED" and self.last.value != self.execution.output:
            output, before = _cut(self.execution.output), _cut(self.last.value)
            return count + 1, f"{differs}its output is {output} instead of {before}"
        if expected == "PAUSED" and self.last.value["name"] != self.execution.paused_on:
            before = self.last.value["name"]
            return (
                count + 1,
                f"{differs}it pauses on {self.execution.paused_on} instead of {before}",
            )
        return None, ""

    def _describe_missing(self, call: RecordedCall) -> str:
        text = f"differs at step {call.step}: the log has {call.name} ({call.id}), the source "
        new = self._describe_new()
        if self.execution.state == "FAILED":
            failure = self.execution.output
            return f"{text}fails with {failure['type']}: {failure['message']}"
        return f"{text}does not make it{new}"

    def _describe_new(self) -> str:
        new = list(_guard(self.execution).new_calls.items())
        return f", but {new[0][0]} at {new[0][1]}" if new else ""

    def _has_ended_with(self, type: str) -> bool:
        return self.last is not None and self.last.type == type


def _guard(execution: Execution) -> MismatchGuard:
    return execution.run.guard


def _cut(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
