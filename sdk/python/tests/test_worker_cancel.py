"""Cancellation of executions, and their loss to other workers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from conftest import Workers, next_pong, until, until_idle
from server_fake import TERMINAL, FakeServer
from sources import SOURCE


@pytest.fixture
def source(tmp_path: Path) -> str:
    return SOURCE.format(gate=str(tmp_path))


async def test_cancelled_workflow_stops_and_records_it(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "gates", ["a"])
    await until(lambda: stored.types()[-1] == "TASK_STARTED")
    server.cancel(stored)
    await until(lambda: stored.state in TERMINAL)
    assert stored.state == "CANCELLED"
    assert stored.types()[-2:] == ["WORKFLOW_CANCELLING", "WORKFLOW_CANCELLED"]
    assert stored.types().count("WORKFLOW_CANCELLING") == 1


async def test_cancelled_workflow_can_clean_up_with_tasks(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "tidy")
    await until(lambda: stored.types()[-1] == "TASK_STARTED")
    server.cancel(stored)
    await until(lambda: stored.state in TERMINAL)
    assert stored.types()[-3:] == ["TASK_STARTED", "TASK_COMPLETED", "WORKFLOW_CANCELLED"]


async def test_cancelled_workflow_can_still_complete(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "completes_anyway")
    await until(lambda: stored.types()[-1] == "TASK_STARTED")
    server.cancel(stored)
    await until(lambda: stored.state in TERMINAL)
    assert (stored.state, stored.output) == ("COMPLETED", "completed anyway")


async def test_cancel_before_the_claim_ends_the_execution(
    server: FakeServer, workers: Workers, source: str
) -> None:
    claiming = asyncio.Event()

    async def cancel_first(request: Any) -> None:
        if "/claim/" in request.path and not claiming.is_set():
            claiming.set()
            server.send_cancel(stored)
            await asyncio.sleep(0.1)

    server.faults.append(cancel_first)
    await workers.start()
    stored = server.start(source, "gates", ["never"])
    await until(lambda: stored.types()[-1] == "WORKFLOW_CANCELLED")
    assert "TASK_STARTED" not in stored.types()


async def test_cancel_before_the_first_step_ends_the_execution(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start()
    server.start(source, "blocks", "gate")
    await until((tmp_path / "ledger").exists)
    stored = server.start(source, "gates", ["never"])
    await until(lambda: stored.state == "CLAIMED")
    server.cancel(stored)
    await next_pong(server)
    (tmp_path / "gate").touch()
    await until(lambda: stored.state in TERMINAL)
    assert stored.state == "CANCELLED"


async def test_cancel_of_an_execution_that_no_longer_runs_is_confirmed(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "hello", "x")
    await until(lambda: stored.state in TERMINAL)
    await until_idle(server)
    stored.state = "RUNNING"
    server.cancel(stored)
    await until(lambda: stored.state in TERMINAL)
    assert stored.state == "CANCELLED"


async def test_cancel_of_an_earlier_claim_does_not_end_a_later_one(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "hello", "x")
    await until(lambda: stored.state in TERMINAL)
    await until_idle(server)
    stored.state = "CANCELLING"
    stored.generation += 2
    server.send_cancel(stored, stored.generation - 1)
    await until(lambda: server.stale_writes)
    assert stored.state == "CANCELLING"


async def test_cancel_of_a_later_claim_than_the_run_is_confirmed_and_stops_the_run(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "gates", ["a", "b"])
    await until(lambda: stored.types()[-1] == "TASK_STARTED")
    # The frame of the later claim was lost.
    stored.generation += 1
    server.cancel(stored)
    await until(lambda: stored.state in TERMINAL)
    assert stored.state == "CANCELLED"
    # A run that was not stopped would wait for "a".
    await until_idle(server)
    assert server.stale_writes == 0


def during_claim(server: FakeServer, number: int, send: Callable[[], None]) -> None:
    """Lets the worker read the frames that `send` sends before the answer to its n-th claim."""
    claims = 0

    async def fault(request: web.Request) -> None:
        nonlocal claims
        if "/claim/" in request.path:
            claims += 1
            if claims == number:
                send()
                await next_pong(server)

    server.faults.append(fault)


async def test_cancel_during_the_claim_of_an_execution_that_runs_ends_the_later_run(
    server: FakeServer, workers: Workers, source: str
) -> None:
    during_claim(server, 2, lambda: server.send_cancel(stored))
    await workers.start()
    stored = server.start(source, "gates", ["a", "never"])
    await until(lambda: stored.types()[-1] == "TASK_STARTED")
    server.requeue(stored)
    server.dispatch(stored)
    await until(lambda: stored.state in TERMINAL)
    assert stored.state == "CANCELLED"


async def test_cancel_of_an_earlier_claim_during_a_claim_is_ignored(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    during_claim(server, 1, lambda: server.send_cancel(stored, stored.generation - 1))
    await workers.start()
    stored = server.start(source, "gates", ["a"])
    await until(lambda: stored.types()[-1] == "TASK_STARTED")
    (tmp_path / "a").touch()
    await until(lambda: stored.state in TERMINAL)
    assert stored.state == "COMPLETED"


async def test_cancel_of_an_earlier_claim_during_a_run_is_ignored(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start()
    stored = server.start(source, "gates", ["a"])
    await until(lambda: stored.types()[-1] == "TASK_STARTED")
    server.send_cancel(stored, stored.generation - 1)
    await next_pong(server)
    (tmp_path / "a").touch()
    await until(lambda: stored.state in TERMINAL)
    assert stored.state == "COMPLETED"


async def test_cancel_during_the_claim_of_a_cancelled_execution_leaves_it_its_clean_up(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "tidy")
    await until(lambda: stored.types()[-1] == "TASK_STARTED")
    await workers.kill("w1")
    stored.state = "CANCELLING"
    stored.append("WORKFLOW_CANCELLING")
    during_claim(server, 1, lambda: server.send_cancel(stored))
    await workers.start("w2")
    stored.worker = "w2"
    stored.generation += 1
    server.resend_frame(stored)
    await until(lambda: stored.state in TERMINAL)
    assert stored.types()[-3:] == ["TASK_STARTED", "TASK_COMPLETED", "WORKFLOW_CANCELLED"]


async def test_cancel_that_is_repeated_does_not_interrupt_the_clean_up(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start()
    stored = server.start(source, "tidy_at_gate")
    await until(lambda: stored.types()[-1] == "TASK_STARTED")
    server.cancel(stored)
    await until(lambda: stored.types().count("TASK_STARTED") == 2)
    server.send_cancel(stored)
    await next_pong(server)
    (tmp_path / "tidied").touch()
    await until(lambda: stored.state in TERMINAL)
    assert stored.types()[-2:] == ["TASK_COMPLETED", "WORKFLOW_CANCELLED"]


async def test_cancel_of_an_execution_of_another_worker_is_ignored(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "hello", "x")
    await until(lambda: stored.state in TERMINAL)
    stored.worker = "w2"
    before = len(server.requests)
    server.frame("w1", "execution_cancelled", f'{{"context": {stored.context()}}}')
    server.ping()
    await until(lambda: server.pongs)
    assert [path for _, path in server.requests[before:]] == ["/workers/w1/pong"]


async def test_fenced_worker_stops_without_further_writes(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start()
    stored = server.start(source, "gates", ["a", "b"])
    await until(lambda: stored.types()[-1] == "TASK_STARTED")
    server.requeue(stored)
    stored.worker = "w2"
    before = len(server.requests)
    (tmp_path / "a").touch()
    await until(lambda: len(server.requests) > before)
    server.ping()
    await until(lambda: server.pongs)
    # One refused checkpoint; no release, no CANCELLED, no later entries.
    paths = [path for _, path in server.requests[before:]]
    assert paths == [f"/workers/w1/checkpoint/{stored.execution_id}", "/workers/w1/pong"]
    assert (tmp_path / "ledger").read_text().split() in (["a"], ["a", "b"])


async def test_duplicate_frame_starts_one_run(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start()
    stored = server.start(source, "gates", ["a"])
    server.resend_frame(stored)
    await until(lambda: stored.types()[-1] == "TASK_STARTED")
    # The second frame was claimed too if it came after the answer to the first claim.
    claims = claims_of(server)
    server.resend_frame(stored)
    await until(lambda: claims_of(server) > claims)
    (tmp_path / "a").touch()
    await until(lambda: stored.state in TERMINAL)
    assert (tmp_path / "ledger").read_text().split() == ["a"]


def claims_of(server: FakeServer) -> int:
    return sum("/claim/" in path for _, path in server.requests)


async def test_new_claim_generation_replaces_the_old_run(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start()
    stored = server.start(source, "gates", ["a", "b"])
    (tmp_path / "a").touch()
    await until(lambda: stored.types().count("TASK_STARTED") == 2)
    server.requeue(stored)
    server.dispatch(stored)
    await until(lambda: (tmp_path / "ledger").read_text().split() == ["a", "b", "b"])
    (tmp_path / "b").touch()
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == ["a", "b"]
    assert stored.types().count("TASK_COMPLETED") == 2
    assert (stored.releases, server.stale_writes) == ([], 0)


async def test_refused_claim_is_dropped(server: FakeServer, workers: Workers, source: str) -> None:
    async def refuse(request: Any) -> web.Response | None:
        if "/claim/" in request.path:
            return web.json_response({"detail": "stale-claim: gone"}, status=409)
        return None

    server.faults.append(refuse)
    await workers.start()
    stored = server.start(source, "hello", "x")
    await until(lambda: any("/claim/" in path for _, path in server.requests))
    await until_idle(server)
    assert (stored.releases, stored.checkpoints) == ([], [])


@pytest.mark.parametrize("is_own_cancel", [True, False])
async def test_called_workflow_is_cancelled_before_its_caller_learns_of_its_own_cancel(
    server: FakeServer, workers: Workers, source: str, *, is_own_cancel: bool
) -> None:
    """The server cancels both, and the answer of the call comes first."""
    server.run_answers = [{"execution_id": "e", "state": "CANCELLED", "output": None}]

    async def cancel_later(request: web.Request) -> web.StreamResponse | None:
        if not server.executions:
            return None
        (stored,) = server.executions.values()
        if "/run/" in request.path and is_own_cancel:
            stored.state = "CANCELLING"
        elif "/claim/" in request.path and stored.state == "CANCELLING":
            asyncio.get_running_loop().call_later(0.2, server.cancel, stored)
        return None

    server.faults.append(cancel_later)
    await workers.start()
    stored = server.start(source, "calls")
    await until(lambda: stored.state in TERMINAL)
    if is_own_cancel:
        assert stored.state == "CANCELLED"
    else:
        assert stored.output["message"] == "the workflow billing/invoice is CANCELLED"
