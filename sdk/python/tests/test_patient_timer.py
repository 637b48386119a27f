"""Timers of runs in children, in a worker that was stopped or blocked beyond their limits."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing
from typing import Any
from unittest.mock import Mock

import pytest

from conftest import until
from run_fixture import pass_time
from windlass import ExecutionContext
from windlass.domain.state import ExecutionState
from windlass.worker._child_process import ChildProcess
from windlass.worker._frames import FrameKind, encode_frame
from windlass.worker._models import Assignment, Claim, Source
from windlass.worker._patient_timer import PatientTimer
from windlass.worker._remote_run import RemoteRun


class OnePool:
    """Pool of one child."""

    def __init__(self) -> None:
        self.child = ChildProcess(1, self, is_shared=True)
        self.retired: list[ChildProcess] = []

    def assign(self, run: RemoteRun) -> ChildProcess:
        return self.child

    def retire(self, child: ChildProcess) -> None:
        self.retired.append(child)

    def retire_if_used_up(self, child: ChildProcess) -> None: ...


def create_run(pool: OnePool) -> RemoteRun:
    context: ExecutionContext[Any] = ExecutionContext(
        execution_id="e", workflow_name="w", state=ExecutionState.RUNNING
    )
    assignment = Assignment("e", Source("0" * 32, "default", "w", 1, ""), None, transient=False)
    services = Mock(trace=None, authorizes_tasks=False, park_after_s=None)
    return RemoteRun(
        pool, 1, assignment, Claim(context, "{}"), services, Mock(), None, lambda: None
    )


@pytest.mark.parametrize("stop", ["cancel", "abort"])
async def test_the_worker_was_stopped_beyond_the_limit_an_obedient_child_is_not_blamed(
    monkeypatch: pytest.MonkeyPatch, stop: str
) -> None:
    pool = OnePool()
    with closing(pool.child.connect()) as other:
        run = create_run(pool)
        run.start()
        getattr(run, stop)()
        pass_time(monkeypatch)
        # The timer is due now; a loop that was stopped inside of its poll reads only afterwards.
        for _ in range(5):
            await asyncio.sleep(0)
        event = b'CANCELLED\n{"type":"WORKFLOW_CANCELLED"}'
        other.sendall(encode_frame(FrameKind.ENTRY, 1, event) + encode_frame(FrameKind.END, 1))
        await until(lambda: not pool.child.runs)
        assert pool.retired == []
        if stop == "cancel":
            delta = await run.outbox.next()
            assert delta is not None
            assert delta.events == ('{"type":"WORKFLOW_CANCELLED"}',)
        pool.child.close()
        await asyncio.sleep(0)


async def test_the_timer_is_in_time_the_action_follows_what_waits_in_a_socket() -> None:
    order: list[str] = []
    loop = asyncio.get_running_loop()

    def read() -> None:
        loop.remove_reader(own)
        order.append("read")

    own, other = socket.socketpair()
    with own, other:
        own.setblocking(False)
        loop.add_reader(own, read)
        PatientTimer(0, lambda: order.append("action"))
        # In the same turn as the timer.
        loop.call_at(0, other.send, b"x")
        await until(lambda: len(order) == 2)
    assert order == ["read", "action"]


async def test_the_timer_is_late_twice_the_action_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    PatientTimer(30, lambda: calls.append(1))
    for _ in range(2):
        pass_time(monkeypatch)
        assert not calls
        await asyncio.sleep(0.001)
    await until(lambda: calls)


async def test_a_cancelled_timer_does_nothing_in_any_turn() -> None:
    calls: list[int] = []
    for turns in range(5):
        timer = PatientTimer(0, lambda: calls.append(1))
        for _ in range(turns):
            await asyncio.sleep(0)
        before = len(calls)
        timer.cancel()
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(calls) == before
