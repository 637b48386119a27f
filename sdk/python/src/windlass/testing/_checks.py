"""Checks of a workflow: that crashes do not change it, and that its runs make the same calls."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from windlass._mismatch import PAUSE_NAME
from windlass._narrow import is_object
from windlass.domain.events import ExecutionEvent
from windlass.domain.events import ExecutionEventType as E
from windlass.output_storage import parse_reference
from windlass.testing._engine import START, Engine, Execution
from windlass.testing._other_seeds import OtherSeeds
from windlass.workflow import Workflow

Setup = Callable[[Engine], object]

# Time that passes at once when an execution only waits, and how often that may happen.
STEP = timedelta(days=10_000)
MAX_STEPS = 50

# Two texts of a set keep their order under about half of all seeds.
HASH_SEEDS = (1, 2)

_OUTCOMES = {E.TASK_COMPLETED, E.TASK_FAILED, E.TASK_FALLBACK_FAILED}


@dataclass(frozen=True, slots=True)
class CrashReport:
    """Result of `assert_survives_crashes`.

    Attributes:
        cuts: number of places at which the execution was cut.
        events: number of events in the log of the uninterrupted execution.
        hash_seeds: number of other hash seeds with which every beginning of the log was replayed.
    """

    cuts: int
    events: int
    hash_seeds: int = 0


@dataclass(slots=True)
class _Pass:
    """One execution to its end: its log and how often the function of each call ran."""

    events: list[ExecutionEvent]
    output: Any
    bodies: Counter[str]
    input: Any
    # Ids of the calls that the code has made, also of those that were never awaited.
    created: set[str]


async def assert_survives_crashes(
    workflow: Workflow[Any, Any],
    input: Any = None,
    *,
    resumes: Sequence[Any] = (),
    setup: Setup | None = None,
    hash_seeds: Sequence[int] = HASH_SEEDS,
) -> CrashReport:
    """Cuts the execution after every event and continues each time in a fresh engine.

    A crash before an event was acknowledged, or inside the function of a task, leaves the log that
    ends with the event before. Output, outcomes of calls and number of effects must be those of an
    uninterrupted execution: a call whose outcome was recorded must not run again. Raises
    AssertionError with the cut and both timelines. `resumes` are the bodies for the pauses in their
    order; approvals are given. `setup` prepares each engine: secrets, mocks, sub-workflows.

    Every beginning of the log is also replayed in one new process for each of `hash_seeds`, where
    sets of texts have another order: each call that the replay makes must be one of the
    uninterrupted execution, and those in the log must come first. Tasks do not run there. A
    workflow that is defined inside of a function is not found there; `hash_seeds` of the report
    is then 0.
    """
    whole = await _run(workflow, input, resumes, setup, [])
    others = OtherSeeds(workflow, whole.input, whole.events, whole.created, hash_seeds)
    try:
        for cut in range(len(whole.events) + 1):
            prefix = whole.events[:cut]
            continued = await _run(workflow, input, resumes, setup, prefix)
            _compare(whole, continued, cut)
        if different := await others.find_difference():
            cut, message = different
            raise AssertionError(
                f"a crash after event {cut} changes the execution in a process with another hash "
                f"seed: {message}\nuninterrupted:\n{_timeline(whole.events, cut)}"
            )
    finally:
        await others.cancel()
    return CrashReport(len(whole.events) + 1, len(whole.events), others.count)


async def assert_deterministic(
    workflow: Workflow[Any, Any],
    input: Any = None,
    *,
    resumes: Sequence[Any] = (),
    setup: Setup | None = None,
    hash_seeds: Sequence[int] = HASH_SEEDS,
) -> None:
    """Replays a finished execution at another time, with other random numbers and hash seeds.

    Every call that the replay makes must be one of the first run. Raises AssertionError that names
    the line of the first call that is not: its arguments depend on the clock, on random numbers, on
    the order of a set or on something else outside the log. Put this into a task. For `hash_seeds`,
    see `assert_survives_crashes`.
    """
    whole = await _run(workflow, input, resumes, setup, [])
    calls: list[tuple[str, str]] = []
    state = random.getstate()
    random.seed("another seed")
    try:
        with Engine(start=START + timedelta(days=1000), seed=1) as engine:

            def on_call(call_id: str, place: str) -> None:
                calls.append((call_id, place))

            engine.environment = replace(engine.environment, on_call=on_call)
            if setup:
                setup(engine)
            await _finish(engine, workflow, input, resumes, whole.events[:-1])
    finally:
        random.setstate(state)
    for call_id, place in calls:
        if call_id not in whole.created:
            raise AssertionError(
                f"the call {call_id} at {place} is not in the log of an earlier run: its name or "
                "arguments depend on the time, on random numbers or on other state outside the "
                "log; compute them in a task"
            )
    others = OtherSeeds(workflow, whole.input, whole.events, whole.created, hash_seeds)
    if different := await others.find_difference():
        raise AssertionError(
            f"in a process with another hash seed, {different[1]}: its calls depend on the order "
            "of a set or on other state of the process; sort it, or compute it in a task"
        )


async def _run(
    workflow: Workflow[Any, Any],
    input: Any,
    resumes: Sequence[Any],
    setup: Setup | None,
    prefix: Sequence[ExecutionEvent],
) -> _Pass:
    bodies: Counter[str] = Counter()
    created: set[str] = set()
    # The other worker continues when the last event was recorded.
    start = datetime.fromisoformat(prefix[-1].time) if prefix else START
    with Engine(start=start) as engine:

        def on_body(call_id: str) -> None:
            bodies[call_id] += 1

        def on_call(call_id: str, _: str) -> None:
            created.add(call_id)

        engine.environment = replace(engine.environment, on_body=on_body, on_call=on_call)
        if setup:
            setup(engine)
        execution = await _finish(engine, workflow, input, resumes, prefix)
        if execution.paused_on == PAUSE_NAME:
            raise AssertionError(
                f"after a crash behind event {len(prefix)}: {execution.pause_output['message']}"
            )
        return _Pass(execution.events, execution.output, bodies, execution.input, created)


async def _finish(
    engine: Engine,
    workflow: Workflow[Any, Any],
    input: Any,
    resumes: Sequence[Any],
    prefix: Sequence[ExecutionEvent],
) -> Execution:
    """Continues from a log to the end: resumes pauses, gives approvals, lets time pass."""
    execution = await engine.continue_from(workflow, input, prefix)
    given = sum(event.type == E.WORKFLOW_RESUMING and event.value is not None for event in prefix)
    bodies = list(resumes)[given:]
    for _ in range(MAX_STEPS):
        if execution.state in {"COMPLETED", "FAILED", "CANCELLED"}:
            return execution
        if execution.paused_on == PAUSE_NAME:
            return execution
        if (execution.paused_on or "").startswith("approval:"):
            execution.approve_all()
            await execution.resume(None)
        elif execution.paused_on is not None:
            if not bodies:
                raise AssertionError(
                    f"the execution is paused on {execution.paused_on!r}; pass its body in resumes"
                )
            await execution.resume(bodies.pop(0))
        else:
            await engine.advance_until_settled(execution, STEP)
    raise AssertionError(f"the execution has not ended after {MAX_STEPS} steps of {STEP}")


def _compare(whole: _Pass, continued: _Pass, cut: int) -> None:
    recorded = {e.source_id for e in whole.events[:cut] if e.type in _OUTCOMES}
    repeated = sorted(recorded & continued.bodies.keys())
    expected, actual = _outcomes(whole.events), _outcomes(continued.events)
    if repeated:
        difference = f"the recorded call {repeated[0]} ran again"
    elif _canonical(whole.output) != _canonical(continued.output):
        difference = f"the output is {continued.output!r} instead of {whole.output!r}"
    elif different := sorted(
        call for call in expected.keys() | actual.keys() if expected.get(call) != actual.get(call)
    ):
        call = different[0]
        difference = (
            f"the call {call} ended with {actual.get(call)} instead of {expected.get(call)}"
        )
    elif more := sorted(call for call, n in continued.bodies.items() if n > whole.bodies[call]):
        difference = f"the call {more[0]} ran {continued.bodies[more[0]]} times in one run"
    else:
        return
    raise AssertionError(
        f"a crash after event {cut} changes the execution: {difference}\n"
        f"uninterrupted:\n{_timeline(whole.events, cut)}\n"
        f"interrupted:\n{_timeline(continued.events, cut)}"
    )


def _outcomes(events: Sequence[ExecutionEvent]) -> Mapping[str, str]:
    """Returns the outcome of each call, without the traceback, which shows other lines."""
    outcomes: dict[str, str] = {}
    for event in events:
        if event.type in _OUTCOMES:
            value = event.value
            failed = event.type != E.TASK_COMPLETED
            if failed and is_object(value):
                members = value.get("metadata", {}).get("value", value)
                value = {name: members.get(name) for name in ("type", "message")}
            outcomes[event.source_id] = f"{event.type} {_canonical(value)}"
    return outcomes


def _canonical(value: Any) -> str:
    if is_object(value) and "traceback" in value:
        value = {name: value.get(name) for name in ("type", "message")}
    reference = parse_reference(value)
    if reference is not None and reference.storage_type != "inline":
        # Each run stores the value at another place.
        value = [reference.storage_type, reference.reference_id]
    return json.dumps(value, sort_keys=True)


def _timeline(events: Sequence[ExecutionEvent], cut: int) -> str:
    lines = [
        f"  {n:3} {event.type:24} {event.name} {event.source_id}"
        + ("   <- crash" if n == cut else "")
        for n, event in enumerate(events, 1)
    ]
    return "\n".join(lines)
