"""Claims that the first checkpoint makes."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path

import pytest
from aiohttp import web

from conftest import Workers, until
from server_fake import TERMINAL, FakeServer, StoredExecution
from sources import SOURCE
from windlass._payloads import Payloads
from windlass.codec import PayloadCodec
from windlass.worker import _executions, _suspension

SLEEPS = """
from windlass import ExecutionContext, sleep, task, workflow

@task.with_options(secret_requests=["KEY"])
async def reads(secrets):
    return secrets["KEY"]

@workflow
async def secret(ctx: ExecutionContext):
    return await reads()

@workflow
async def sleeps(ctx: ExecutionContext):
    await sleep(ctx.input)
"""


@pytest.fixture
def source(tmp_path: Path) -> str:
    return SOURCE.format(gate=str(tmp_path))


@pytest.fixture(autouse=True)
def _delivers(server: FakeServer) -> None:
    server.delivers_s = 60.0


def count(server: FakeServer, part: str) -> int:
    return sum(part in path for _, path in server.requests)


def ledger(folder: Path) -> list[str]:
    file = folder / "ledger"
    return file.read_text().splitlines() if file.exists() else []


def has_ended(stored: StoredExecution) -> bool:
    return stored.state in TERMINAL


async def test_registration_announces_claim_by_delivery_and_kept_workflows(
    server: FakeServer, workers: Workers
) -> None:
    await workers.start()
    features = ["claim_by_delivery", "keep_workflows", "continue_cancelled"]
    assert server.registrations[0]["features"] == features


async def test_kept_workflow_runs_from_frames_without_its_source(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    first = server.start(source, "hello", "x", keep_workflow=True)
    await until(lambda: has_ended(first))
    reference = {name: text for name, text in first.workflow.items() if name != "source"}
    second = server.start(source, "hello", "y", workflow=reference)
    await until(lambda: has_ended(second))
    assert [first.output, second.output] == ["Hello, x", "Hello, y"]


async def test_kept_workflow_is_not_used_on_a_later_connection(
    server: FakeServer, workers: Workers, source: str, caplog: pytest.LogCaptureFixture
) -> None:
    await workers.start()
    first = server.start(source, "hello", "x", keep_workflow=True)
    await until(lambda: has_ended(first))
    connects = len(server.connects)
    server.close_stream("w1")
    await until(lambda: len(server.connects) > connects and server.connected("w1"))
    reference = {name: text for name, text in first.workflow.items() if name != "source"}
    server.start(source, "hello", "y", workflow=reference)
    third = server.start(source, "hello", "z")
    await until(lambda: has_ended(third))
    assert "failed to parse frame" in caplog.text


async def test_short_execution_is_one_request(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "hello", input_json='"9007199254740993"')
    await until(lambda: has_ended(stored))
    assert stored.output == "Hello, 9007199254740993"
    assert count(server, "/claim/") == 0
    assert stored.types()[:3] == ["WORKFLOW_SCHEDULED", "WORKFLOW_CLAIMED", "WORKFLOW_STARTED"]


async def test_input_and_resume_body_keep_their_text(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "asks", input_json="1.50")
    await until(lambda: stored.state == "PAUSED")
    assert '"value":1.50' in stored.checkpoint_texts[0].replace(" ", "")
    server.resume_with(stored, "[2.50]")
    await until(lambda: stored.state == "PAUSED")
    server.resume(stored, "two")
    await until(lambda: has_ended(stored))
    assert stored.output == [[2.5], "two"]
    assert count(server, "/claim/") == 0
    assert stored.types().count("WORKFLOW_RESUME_CLAIMED") == 2


async def test_long_first_step_is_claimed_by_its_start(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start()
    stored = server.start(source, "gates", ["a"])
    await until(lambda: stored.state == "RUNNING")
    (tmp_path / "a").touch()
    await until(lambda: has_ended(stored))
    assert count(server, "/claim/") == 0


async def test_execution_without_a_checkpoint_in_time_is_claimed(
    server: FakeServer, workers: Workers, source: str
) -> None:
    answer = asyncio.Event()

    async def hold_checkpoints(request: web.Request) -> None:
        if "/checkpoint/" in request.path:
            await answer.wait()

    # The worker claims after a third of it, and drops work that it did not begin in this time.
    server.delivers_s = 1.5
    server.faults.append(hold_checkpoints)
    await workers.start()
    stored = server.start(source, "hello", "x")
    await until(lambda: stored.state == "CLAIMED")
    answer.set()
    await until(lambda: has_ended(stored))
    assert stored.output == "Hello, x"
    assert count(server, "/claim/") == 1


async def test_replica_that_needs_a_claim_gets_one(
    server: FakeServer, workers: Workers, source: str
) -> None:
    server.takes_first_checkpoints = False
    await workers.start()
    stored = server.start(source, "hello", "x")
    await until(lambda: has_ended(stored))
    assert stored.output == "Hello, x"
    assert count(server, "/claim/") == 1


async def test_execution_that_was_taken_back_is_dropped(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    async def take_back(request: web.Request) -> None:
        if "/checkpoint/" in request.path and not stored.checkpoints and stored.generation == 1:
            server.requeue(stored)

    server.faults.append(take_back)
    worker = await workers.start()
    stored = server.start(source, "gates", ["a"])
    await until(lambda: server.stale_writes == 1 and count(server, "/claim/") == 1)
    await workers.stop("w1")
    assert worker is not None
    assert stored.releases == []
    assert "WORKFLOW_CLAIMED" not in stored.types()


async def test_repeated_frames_run_once(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start()
    stored = server.start(source, "gates", ["a"])
    server.resend_frame(stored)
    await until(lambda: stored.state == "RUNNING")
    server.resend_frame(stored)
    (tmp_path / "a").touch()
    await until(lambda: has_ended(stored))
    stored.state = "SCHEDULED"
    server.resend_frame(stored)
    other = server.start(source, "hello", "x")
    await until(lambda: has_ended(other))
    assert ledger(tmp_path) == ["a"]
    assert count(server, "/claim/") == 0


async def test_later_frame_replaces_the_run_and_an_earlier_one_does_not(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start()
    stored = server.start(source, "gates", ["a"])
    # The start of the task may come in a second checkpoint, which the new generation would refuse.
    await until(lambda: "TASK_STARTED" in stored.types())
    server.requeue(stored)
    server.dispatch(stored)
    latest = stored.generation
    await until(lambda: stored.state == "RUNNING")
    stored.generation = 1
    server.resend_frame(stored)
    stored.generation = latest
    (tmp_path / "a").touch()
    await until(lambda: has_ended(stored))
    assert stored.output == ["a"]
    assert server.stale_writes == 0


async def test_frame_that_is_not_begun_in_time_is_dropped(
    server: FakeServer, workers: Workers, source: str
) -> None:
    server.delivers_s = -1.0
    await workers.start()
    late = server.start(source, "hello", "x")
    server.delivers_s = 60.0
    stored = server.start(source, "hello", "y")
    await until(lambda: has_ended(stored))
    assert late.state == "SCHEDULED"
    assert late.checkpoints == []


async def test_a_codec_takes_longer_than_the_claim_deadline_the_frame_is_dropped(
    server: FakeServer, workers: Workers, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_executions, "time", CLOCK)
    await workers.start(codec="test_worker_delivery:SlowCodec")
    payloads = Payloads(SlowCodec())
    late = server.start(source, "hello", input_json=payloads.wrap('"late"'))
    await until(lambda: CLOCK.late_s)
    CLOCK.late_s = 0.0
    stored = server.start(source, "hello", input_json=payloads.wrap('"soon"'))
    await until(lambda: has_ended(stored))
    assert late.state == "SCHEDULED"
    assert late.checkpoints == []


class Clock:
    """Clock that a test sets forward."""

    def __init__(self) -> None:
        self.late_s = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.late_s


CLOCK = Clock()


class SlowCodec(PayloadCodec):
    """Takes an hour to decode a value that says so."""

    name = "slow"

    def encode(self, data: bytes) -> tuple[str, bytes]:
        return "key", data

    def decode(self, data: bytes, key: str) -> bytes:
        if b"late" in data:
            CLOCK.late_s = 3600.0
        return data


async def test_frame_that_is_read_after_a_suspension_is_claimed(
    server: FakeServer, workers: Workers, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each lag counts as a suspension.
    monkeypatch.setattr(_suspension, "MAX_LAG_S", -_suspension.TICK_S - 1)
    await workers.start()
    stored = server.start(source, "hello", "x")
    await until(lambda: has_ended(stored))
    assert count(server, "/claim/") == 1


@pytest.mark.parametrize(("lag_s", "suspect_s"), [(5, 10), (60, 60)])
async def test_a_suspension_has_ended_frames_count_as_late_for_ten_seconds_or_its_length(
    monkeypatch: pytest.MonkeyPatch, lag_s: float, suspect_s: float
) -> None:
    now = 0.0
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now)
    watch = _suspension.SuspensionWatch()
    watch.stop()
    now = _suspension.TICK_S + lag_s
    watch._tick()
    watch.stop()
    end = now + suspect_s
    # A shorter suspension soon afterwards does not end it earlier.
    now += _suspension.TICK_S + _suspension.MAX_LAG_S + 0.1
    watch._tick()
    watch.stop()
    end = max(end, now + _suspension.CATCH_UP_S)
    # The ticks that follow are in time.
    watch._ticked_at = now = end - 0.1
    assert watch.may_be_late
    watch._ticked_at = now = end + 0.1
    assert not watch.may_be_late


async def test_frames_that_may_be_old_are_claimed(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    server.comment("w1", "delayed")
    old = [server.start(source, "hello", x) for x in "abc"]
    await until(lambda: all(map(has_ended, old)))
    assert count(server, "/claim/") == 3
    server.comment("w1", "on time")
    stored = server.start(source, "hello", "y")
    await until(lambda: has_ended(stored))
    assert count(server, "/claim/") == 3


async def test_frame_that_is_old_and_taken_back_does_not_run(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start()
    server.comment("w1", "delayed")
    stored = server.start(source, "gates", ["a"])
    server.requeue(stored)
    await until(lambda: count(server, "/claim/") > 0)
    server.comment("w1", "on time")
    other = server.start(source, "hello", "x")
    await until(partial(has_ended, other))
    assert ledger(tmp_path) == []


async def test_secret_is_read_after_the_claim(server: FakeServer, workers: Workers) -> None:
    order: list[str] = []

    async def note(request: web.Request) -> None:
        parts = ("checkpoint", "claim", "secrets")
        order.extend(part for part in parts if f"/{part}/" in request.path)

    server.faults.append(note)
    server.secrets["KEY"] = "value"
    await workers.start()
    stored = server.start(SLEEPS, "secret")
    await until(lambda: has_ended(stored))
    assert stored.output == "value"
    first = min(order.index(part) for part in ("checkpoint", "claim") if part in order)
    assert first < order.index("secrets")


async def test_secret_of_an_execution_that_was_taken_back_is_not_read(
    server: FakeServer, workers: Workers
) -> None:
    async def take_back(request: web.Request) -> None:
        if stored.generation == 1 and ("/claim/" in request.path or "/checkpoint/" in request.path):
            server.requeue(stored)

    server.secrets["KEY"] = "value"
    await workers.start()
    stored = server.start(SLEEPS, "secret")
    server.faults.append(take_back)
    await until(lambda: server.stale_writes + count(server, "/claim/") > 0)
    await workers.stop("w1")
    assert count(server, "/secrets/") == 0


async def test_parked_execution_counts_from_its_latest_lease(
    server: FakeServer, workers: Workers
) -> None:
    server.features = ["parking"]
    await workers.start(park_after_s=0.05)
    stored = server.start(SLEEPS, "sleeps", 3600)
    await until(lambda: len(stored.conditions) == 1)
    for event in stored.events:
        if event["type"] == "WORKFLOW_CLAIMED":
            event["time"] = "2020-01-02T03:04:05.000006Z"
    server.dispatch(stored)
    await until(lambda: len(stored.conditions) == 2)
    assert stored.conditions[1]["wake_at"].startswith("2026-01-02T04:")
    assert count(server, "/claim/") == 0


async def test_cancel_before_its_dispatch_is_confirmed_and_the_dispatch_ignored(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "frame", lambda *_: None)
        stored = server.start(source, "gates", ["a"])
    server.cancel(stored)
    await until(lambda: stored.state == "CANCELLED")
    server.resend_frame(stored)
    other = server.start(source, "hello", "x")
    await until(partial(has_ended, other))
    assert ledger(tmp_path) == []
