"""Deltas: the entries of a log that a checkpoint contains."""

from __future__ import annotations

import asyncio
import threading

from conftest import HANG_S
from windlass._entry import Entry, create_entry
from windlass.domain.state import ExecutionState
from windlass.worker._delta import MAX_DELTA_EVENTS, Delta, PendingEntries
from windlass.worker._outbox import Outbox

RUNNING, COMPLETED = ExecutionState.RUNNING, ExecutionState.COMPLETED


def test_delta_contains_all_new_entries_in_order() -> None:
    pending = PendingEntries()
    entries = [_entry("a"), _entry("b"), _entry("c", COMPLETED)]
    for entry in entries:
        pending.add(entry)
    assert pending.take() == Delta(tuple(entry.text for entry in entries), COMPLETED)
    assert pending.take() is None


def test_delta_is_limited_and_has_the_state_of_its_last_entry() -> None:
    pending = PendingEntries(max_events=2)
    for name in "abc":
        pending.add(_entry(name, COMPLETED if name == "c" else RUNNING))
    first, second = pending.take(), pending.take()
    assert first is not None
    assert second is not None
    assert (len(first.events), first.state) == (2, RUNNING)
    assert (len(second.events), second.state) == (1, COMPLETED)


def test_entry_larger_than_a_checkpoint_is_sent_alone() -> None:
    pending = PendingEntries(max_bytes=300)
    for name in ("a", "b" * 1000, "c"):
        pending.add(_entry(name))
    taken = [pending.take(), pending.take(), pending.take()]
    assert [len(delta.events) for delta in taken if delta] == [1, 1, 1]


async def test_entries_of_another_thread_arrive_completely_and_in_order() -> None:
    outbox = Outbox(asyncio.get_running_loop(), asyncio.get_running_loop())
    sent = [_entry(str(number)) for number in range(5000)]

    def record() -> None:
        for entry in sent:
            outbox.record(entry)
        outbox.close()

    thread = threading.Thread(target=record)
    thread.start()
    received: list[str] = []
    async with asyncio.timeout(HANG_S):
        while delta := await outbox.next():
            received += delta.events
    thread.join()
    assert received == [entry.text for entry in sent]


async def test_entries_beyond_one_checkpoint_are_available_at_once() -> None:
    outbox = Outbox(asyncio.get_running_loop(), asyncio.get_running_loop())
    for number in range(MAX_DELTA_EVENTS + 1):
        outbox.record(_entry(str(number)))
    sizes = []
    for _ in range(2):
        delta = await asyncio.wait_for(outbox.next(), HANG_S)
        assert delta is not None
        sizes.append(len(delta.events))
    assert sizes == [MAX_DELTA_EVENTS, 1]


async def test_abandoned_outbox_returns_none() -> None:
    outbox = Outbox(asyncio.get_running_loop(), asyncio.get_running_loop())
    outbox.record(_entry("a"))
    outbox.abandon()
    assert await asyncio.wait_for(outbox.next(), HANG_S) is None


async def test_full_outbox_delays_new_tasks() -> None:
    loop = asyncio.get_running_loop()
    outbox = Outbox(loop, loop, max_pending=2)
    for name in "ab":
        outbox.record(_entry(name))
    waiting = asyncio.create_task(outbox.wait_for_capacity())
    await asyncio.sleep(0)
    assert not waiting.done()
    await outbox.next()
    await asyncio.wait_for(waiting, HANG_S)


def _entry(name: str, state: ExecutionState = RUNNING) -> Entry:
    return create_entry("TASK_STARTED", "s", name, None, state)
