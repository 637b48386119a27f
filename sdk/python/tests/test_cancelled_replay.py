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
from effects import effects
from run_fixture import EXECUTION_ID, FakeServices, RecordingJournal, types
from windlass import ExecutionContext, ExecutionEvent
from windlass._children import track_children
from windlass._run import Run
from windlass.codec import ZlibCodec
from windlass.domain.state import ExecutionState
from windlass.worker._models import Source
from windlass.worker._modules import Modules
from windlass.worker._workflow_run import WorkflowRun

TEXT = """
import asyncio, threading
from effects import effects
from windlass import ExecutionContext, parallel, saga, sleep, task, workflow

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


@pytest.fixture(autouse=True)
def _fresh() -> None:
    effects.clear()
