"""Replay of a CANCELLING execution: another worker continues what the first one began.

No server and no worker process: the runs of one worker after another, from any prefix of the log.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Sequence
from typing import Any

import pytest

from conftest import until
from effects import effects, may_load
from run_fixture import EXECUTION_ID, FakeServices, RecordingJournal, types
from windlass import ExecutionContext, ExecutionEvent
from windlass._children import track_children
from windlass._mismatch import LOAD_LOOKS, MismatchGuard
from windlass._run import Run
from windlass.codec import ZlibCodec
from windlass.domain.state import ExecutionState
from windlass.worker._models import Source
from windlass.worker._modules import Modules
from windlass.worker._workflow_run import WorkflowRun

TEXT = """
import asyncio, threading
from effects import effects, may_load
from windlass import ExecutionContext, parallel, saga, sleep, task, workflow
from windlass.output_storage import OutputStorage, OutputStorageReference

@task
async def book(name: str) -> str:
    effects.append(f"book {name}")
    return name

@task.with_options(record_arguments=False)
async def undo(name: str, reason: str = "") -> None:
    effects.append(f"undo {name}")

@task
async def wait() -> None:
    effects.append("wait")
    await asyncio.sleep(3600)

@workflow
async def travel(ctx: ExecutionContext[None]):
    async with saga() as saga_of_travel:
        for name in ("a", "b", "c"):
            saga_of_travel.add(undo, name)
            await book(name)
        await wait()
        await book("too late")

@workflow
async def travel_in_parallel(ctx: ExecutionContext[None]):
    async with saga() as outer:
        outer.add(undo, "outer")
        await book("outer")

        async def branch(name: str):
            async with saga() as inner:
                inner.add(undo, name)
                await book(name)
                await wait()

        await parallel(branch("left"), branch("right"))
        await book("too late")

@workflow
async def adds_a_bad_one(ctx: ExecutionContext[None]):
    async with saga() as saga_of_travel:
        saga_of_travel.add(undo, "a")
        saga_of_travel.add(undo, "b", threading.Lock())
        saga_of_travel.add(undo, "c")
        await wait()

class HeldStorage(OutputStorage):
    def store(self, reference_id, value):
        return OutputStorageReference("held", reference_id, {"value": value})

    def retrieve(self, reference):
        may_load.wait()
        return reference.metadata["value"]

@task.with_options(output_storage=HeldStorage())
async def pay(amount: int) -> int:
    return amount

@workflow
async def pays(ctx: ExecutionContext[None]):
    async with saga() as payments:
        payments.add(undo, str(await pay(7)))
        await book("a")
        await wait()

@task
async def undo_slowly(name: str) -> None:
    await asyncio.sleep(0.2)
    effects.append(f"undo {name}")

@task
async def fail() -> None:
    raise ValueError("no")

@workflow
async def fails_beside_a_payment(ctx: ExecutionContext[None]):
    has_paid = asyncio.Event()

    async def branch():
        async with saga() as payments:
            payments.add(undo_slowly, str(await pay(7)))
            has_paid.set()
            await asyncio.sleep(3600)

    branch_task = asyncio.create_task(branch())
    if not effects:
        await has_paid.wait()
    await fail()
"""
SOURCE = Source("0" * 32, "default", "w", 1, base64.b64encode(TEXT.encode()).decode())


class OneRun:
    """Run of a workflow of the source on one worker."""

    def __init__(self, name: str, events: Sequence[ExecutionEvent], state: ExecutionState) -> None:
        asyncio.get_running_loop().set_task_factory(track_children)
        context: ExecutionContext[Any] = ExecutionContext(
            execution_id=EXECUTION_ID, workflow_name=name, state=state, events=events
        )
        self.journal = RecordingJournal()
        self._ended = asyncio.Event()
        self.has_ended = self._ended.is_set
        run = Run(context, self.journal, FakeServices())
        source = Source(SOURCE.id, SOURCE.namespace, name, SOURCE.version, SOURCE.base64)
        self._workflow_run = WorkflowRun(Modules(), source, run, self._ended.set)
        self._workflow_run.begin()

    def cancel(self) -> None:
        self._workflow_run.stop(closing=False)

    async def events(self) -> list[ExecutionEvent]:
        async with asyncio.timeout(60):
            await self._ended.wait()
        return self.journal.events


async def cancelled_log(name: str, waits: int = 1) -> list[ExecutionEvent]:
    """Returns the log of an execution that is cancelled when so many calls of `wait` have begun."""
    run = OneRun(name, [], ExecutionState.CLAIMED)
    await until(lambda: effects.count("wait") == waits)
    run.cancel()
    return await run.events()


def undone_in(events: Sequence[ExecutionEvent]) -> list[str]:
    """Returns the calls of compensations with an outcome."""
    return [event.source_id for event in events if is_undo(event, "TASK_COMPLETED")]


def is_undo(event: ExecutionEvent, type: str) -> bool:
    return event.type == type and event.name == "undo"


async def test_a_cancelled_execution_lost_after_any_event_the_next_run_ends_it() -> None:
    log = await cancelled_log("travel")
    assert types(log)[-1] == "WORKFLOW_CANCELLED"
    assert effects[4:] == ["undo c", "undo b", "undo a"]
    for cut in range(len(log)):
        effects.clear()
        given = log[:cut]
        events = await OneRun("travel", given, ExecutionState.CANCELLING).events()
        booked = [
            event for event in given if event.type == "TASK_COMPLETED" and event.name == "book"
        ]
        # Added before the step that the log lacks, which may have had its effect.
        added = ["a", "b", "c"][: len(booked) + 1]
        left = added[: len(added) - len(undone_in(given))]
        assert effects == [f"undo {name}" for name in reversed(left)], cut
        assert types(events)[-1] == "WORKFLOW_CANCELLED", cut
        known = {event.source_id for event in given if event.type == "TASK_COMPLETED"}
        assert not known & {
            event.source_id for event in events if event.type != "WORKFLOW_CANCELLED"
        }
        if len(booked) == 3:
            assert undone_in([*given, *events]) == undone_in(log), cut


async def test_branches_of_a_cancelled_execution_each_is_compensated_once_after_any_cut() -> None:
    log = await cancelled_log("travel_in_parallel", waits=2)
    expected = sorted(undone_in(log))
    assert len(expected) == 3
    first = next(n for n, event in enumerate(log) if is_undo(event, "TASK_STARTED"))
    for cut in range(first, len(log)):
        effects.clear()
        given = log[:cut]
        events = await OneRun("travel_in_parallel", given, ExecutionState.CANCELLING).events()
        assert types(events)[-1] == "WORKFLOW_CANCELLED", cut
        assert sorted(undone_in([*given, *events])) == expected, cut
        assert len(effects) == 3 - len(undone_in(given)), cut


async def test_a_cancel_that_arrives_while_the_run_catches_up_compensates_as_much() -> None:
    log = await cancelled_log("travel")
    cut = next(n for n, event in enumerate(log) if is_undo(event, "TASK_STARTED"))
    effects.clear()
    run = OneRun("travel", log[:cut], ExecutionState.CANCELLING)
    run.cancel()
    assert types(await run.events())[-1] == "WORKFLOW_CANCELLED"
    assert effects == ["undo c", "undo b", "undo a"]


async def test_the_first_compensation_its_record_lists_the_calls_of_all_of_them() -> None:
    log = await cancelled_log("travel")
    started = [event for event in log if is_undo(event, "TASK_STARTED")]
    assert [event.value for event in started] == [{"~compensations": undone_in(log)}, {}, {}]
    # Also in the record of a run in which the first one is interrupted again.
    given = log[: log.index(started[0]) + 1]
    events = await OneRun("travel", given, ExecutionState.CANCELLING).events()
    again = next(event for event in events if is_undo(event, "TASK_STARTED"))
    assert again.value == started[0].value


async def test_a_compensation_that_cannot_be_called_the_others_run(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = await cancelled_log("adds_a_bad_one")
    assert effects[1:] == ["undo c", "undo a"]
    assert types(log)[-1] == "WORKFLOW_CANCELLED"
    assert "undo: TypeError: the argument type lock has no stable identity" in caplog.text


async def test_a_codec_the_calls_of_the_compensations_stay_readable() -> None:
    from windlass._payloads import Payloads

    log = await cancelled_log("travel")
    event = next(event for event in log if is_undo(event, "TASK_STARTED"))
    members = {"name": "b", **event.value}
    text = json.dumps(
        {"id": "0", "type": event.type, "source_id": "", "name": "", "value": members}
    )
    wrapped = json.loads(Payloads(ZlibCodec()).wrap_event(text))["value"]
    assert wrapped["~compensations"] == event.value["~compensations"]
    assert wrapped["name"]["$codec"] == "zlib"


@pytest.mark.parametrize("last", ["pay", "book"])
async def test_a_value_is_still_being_loaded_the_cancel_waits_until_the_code_has_it(
    monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    monkeypatch.setattr("windlass._mismatch.SETTLE_LOOKS", 1)
    looks = count_looks(monkeypatch)
    log = await cancelled_log("pays")
    cut = next(n for n, event in enumerate(log) if is_end(event, last)) + 1
    effects.clear()
    may_load.clear()
    try:
        run = OneRun("pays", log[:cut], ExecutionState.CANCELLING)
        await until(lambda: len(looks) >= 5 or run.has_ended())
    finally:
        may_load.set()
    assert types(await run.events())[-1] == "WORKFLOW_CANCELLED"
    assert effects == ["undo 7"]


@pytest.mark.parametrize("state", [ExecutionState.CLAIMED, ExecutionState.CANCELLING])
async def test_the_body_fails_while_a_branch_loads_a_value_the_branch_gets_it_and_compensates(
    monkeypatch: pytest.MonkeyPatch, state: ExecutionState
) -> None:
    looks = count_looks(monkeypatch)
    log = await OneRun("fails_beside_a_payment", [], ExecutionState.CLAIMED).events()
    cut = types(log).index("TASK_FAILED") + 1
    assert effects == ["undo 7"]
    may_load.clear()
    looks.clear()
    try:
        run = OneRun("fails_beside_a_payment", log[:cut], state)
        await until(lambda: len(looks) >= 5 or run.has_ended())
    finally:
        may_load.set()
    assert types(await run.events())[-1] == "WORKFLOW_FAILED"
    assert effects == ["undo 7", "undo 7"]


async def test_the_body_has_failed_and_a_branch_compensates_a_cancel_does_not_end_it() -> None:
    run = OneRun("fails_beside_a_payment", [], ExecutionState.CLAIMED)
    await until(lambda: "TASK_FAILED" in types(run.journal.events))
    await until(lambda: any(event.name == "undo_slowly" for event in run.journal.events))
    run.cancel()
    assert types(await run.events())[-1] == "WORKFLOW_FAILED"
    assert effects == ["undo 7"]


async def test_a_value_has_been_loaded_it_counts_as_loading_until_the_next_look() -> None:
    context: ExecutionContext[Any] = ExecutionContext(
        execution_id=EXECUTION_ID, workflow_name="pays", events=[]
    )
    guard = Run(context, RecordingJournal(), FakeServices()).guard
    with guard.loading():
        assert guard.is_loading
    assert guard.is_loading
    assert guard.is_behind()
    assert not guard.is_loading


async def test_a_storage_hangs_the_replay_counts_as_behind_for_half_a_minute_only() -> None:
    log = await cancelled_log("pays")
    context: ExecutionContext[Any] = ExecutionContext(
        execution_id=EXECUTION_ID, workflow_name="pays", events=log
    )
    guard = Run(context, RecordingJournal(), FakeServices()).guard
    with guard.loading():
        looks = [guard.is_behind() for _ in range(LOAD_LOOKS)]
        assert all(looks)
        guard._unrequested.clear()
        assert not guard.is_behind()


def count_looks(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Returns the list of what the looks at the progress of a replay will have found."""
    looks: list[bool] = []
    is_behind = MismatchGuard.is_behind

    def look(guard: MismatchGuard) -> bool:
        looks.append(is_behind(guard))
        return looks[-1]

    monkeypatch.setattr(MismatchGuard, "is_behind", look)
    return looks


def is_end(event: ExecutionEvent, name: str) -> bool:
    return event.type == "TASK_COMPLETED" and event.name == name


@pytest.fixture(autouse=True)
def _fresh() -> None:
    effects.clear()
