"""Unavailable, slow and refusing servers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from conftest import HANG_S, Workers, next_pong, until, until_idle
from server_fake import TERMINAL, FakeServer
from sources import SOURCE
from windlass.worker import (
    Settings,
    Worker,
    _connect_stream,
    _delivery,
    _executions,
    _registration,
    _run_services,
)
from windlass.worker._api import Refused


@pytest.fixture
def source(tmp_path: Path) -> str:
    return SOURCE.format(gate=str(tmp_path))


@pytest.fixture(autouse=True)
def _short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divides all retry delays by 100."""
    for module, names in {
        _delivery: ["FIRST_DELAY_S", "MAX_DELAY_S", "MAX_RELEASE_DELAY_S"],
        _executions: ["CLAIM_FIRST_DELAY_S", "CLAIM_MAX_DELAY_S"],
        _registration: ["FIRST_DELAY_S", "MAX_DELAY_S"],
        _connect_stream: ["FIRST_DELAY_S", "MAX_DELAY_S"],
    }.items():
        for name in names:
            monkeypatch.setattr(module, name, getattr(module, name) / 100)


def times(count: int, part: str, status: int, text: str = "{}") -> Callable[[Any], Any]:
    """Returns a fault: the first `count` requests to a route get this response."""
    left = count

    async def fault(request: web.Request) -> web.Response | None:
        nonlocal left
        if part not in request.path or left == 0:
            return None
        left -= 1
        return web.Response(status=status, text=text)

    return fault


@pytest.mark.parametrize("part", ["/claim/", "/checkpoint/", "/register", "/connect"])
async def test_unavailable_server_is_retried(
    server: FakeServer, workers: Workers, source: str, part: str
) -> None:
    server.faults.append(times(3, part, 503))
    await workers.start()
    stored = server.start(source, "hello", "x")
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == "Hello, x"


async def test_checkpoint_with_a_lost_response_is_repeated_and_applied_once(
    server: FakeServer, workers: Workers, source: str
) -> None:
    lost = 0

    async def lose_the_answer(request: web.Request) -> web.Response | None:
        nonlocal lost
        if "/checkpoint/" not in request.path or lost == 2:
            return None
        lost += 1
        request.match_info["name"] = "w1"
        await server._checkpoint(request)
        assert request.transport is not None
        request.transport.abort()
        return None

    server.faults.append(lose_the_answer)
    await workers.start()
    stored = server.start(source, "many", 3)
    await until(lambda: stored.state in TERMINAL)
    ids = [event["id"] for event in stored.events]
    assert len(ids) == len(set(ids))
    assert stored.output == 3


async def test_rejected_checkpoint_body_fails_the_execution_with_a_reason(
    server: FakeServer, workers: Workers, source: str
) -> None:
    server.faults.append(times(1, "/checkpoint/", 422, '{"detail": "no"}'))
    await workers.start()
    stored = server.start(source, "gates", ["never"])
    await until(lambda: stored.state in TERMINAL)
    assert stored.state == "FAILED"
    assert stored.output["type"] == "CheckpointRefused"
    assert stored.types()[-1] == "WORKFLOW_FAILED"
    assert sum("/checkpoint/" in path for _, path in server.requests) == 2


async def test_checkpoint_of_an_unknown_execution_is_not_repeated(
    server: FakeServer, workers: Workers, source: str
) -> None:
    server.faults.append(times(99, "/checkpoint/", 404))
    await workers.start()
    server.start(source, "gates", ["never"])
    await until(lambda: sum("/checkpoint/" in path for _, path in server.requests) == 1)
    await until_idle(server)
    assert sum("/checkpoint/" in path for _, path in server.requests) == 1


async def take_no_end(request: web.Request) -> web.Response | None:
    if "/checkpoint/" in request.path and (await request.json())["state"] in TERMINAL:
        return web.Response(status=500)
    return None


async def test_undeliverable_terminal_state_releases_the_execution(
    server: FakeServer, workers: Workers, source: str
) -> None:
    server.faults.append(take_no_end)
    await workers.start(terminal_deadline_s=0.05)
    stored = server.start(source, "hello", "x")
    await until(lambda: stored.releases)
    assert stored.releases == ["1"]


async def test_release_under_a_claim_is_repeated_until_it_is_answered(
    server: FakeServer, workers: Workers, source: str
) -> None:
    server.faults.append(take_no_end)
    server.faults.append(times(12, "/release/", 500))
    await workers.start(terminal_deadline_s=0.05)
    stored = server.start(source, "hello", "x")
    await until(lambda: stored.releases)
    assert stored.releases == ["1"]
    assert sum("/release/" in path for _, path in server.requests) == 13


async def test_release_without_a_claim_is_given_up(
    server: FakeServer, workers: Workers, source: str
) -> None:
    server.faults.append(times(10**6, "/claim/", 500))
    server.faults.append(times(10**6, "/release/", 500))
    await workers.start()
    server.start(source, "hello", "x")
    await until(lambda: sum("/release/" in path for _, path in server.requests) == 5)
    await workers.stop("w1")
    assert sum("/release/" in path for _, path in server.requests) == 5


async def test_unanswered_claim_releases_the_execution(
    server: FakeServer, workers: Workers, source: str
) -> None:
    server.faults.append(times(10**6, "/claim/", 500))
    await workers.start()
    stored = server.start(source, "hello", "x")
    await until(lambda: stored.releases)
    assert stored.releases == [None]


async def test_a_pong_is_never_answered_a_later_ping_is_answered(
    server: FakeServer, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.worker._http_api.PONG_SILENCE_S", 0.05)
    is_held, may_answer = asyncio.Event(), asyncio.Event()

    async def hold_first(request: web.Request) -> None:
        if request.path.endswith("/pong") and not is_held.is_set():
            is_held.set()
            await may_answer.wait()

    server.faults.append(hold_first)
    await workers.start()
    server.ping()
    await asyncio.wait_for(is_held.wait(), HANG_S)
    try:
        await next_pong(server)
    finally:
        may_answer.set()


@pytest.mark.parametrize("part", ["/claim/", "/checkpoint/", "/pong"])
async def test_worker_with_an_expired_session_registers_again_and_continues(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path, part: str
) -> None:
    server.faults.append(times(1, part, 401))
    await workers.start()
    first = server.tokens["w1"]
    stored = server.start(source, "hello", "x")
    server.ping()
    await until(lambda: stored.state in TERMINAL and server.pongs)
    assert stored.output == "Hello, x"
    assert server.sent_sessions == [None, first]
    assert len({record["instance"] for record in server.registrations}) == 1


async def test_concurrent_401_responses_register_once(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    expired = f"Bearer {server.tokens['w1']}"

    async def expire(request: web.Request) -> web.Response | None:
        is_old = request.headers.get("Authorization") == expired
        return web.Response(status=401) if is_old else None

    server.faults.append(expire)
    all_stored = [server.start(source, "hello", str(n)) for n in range(20)]
    await until(lambda: all(stored.state in TERMINAL for stored in all_stored))
    assert len(server.registrations) == 2


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_unknown_worker_on_connect_registers_again(
    server: FakeServer, workers: Workers, status: int
) -> None:
    server.faults.append(times(1, "/connect", status))
    await workers.start()
    assert len(server.registrations) == 2


async def test_ended_stream_is_reopened_after_a_delay(
    server: FakeServer,
    workers: Workers,
    source: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_connect_stream, "FIRST_DELAY_S", 0.2)
    monkeypatch.setattr(_connect_stream, "MAX_DELAY_S", 0.2)
    await workers.start()
    stored = server.start(source, "gates", ["a"])
    await until(lambda: stored.types()[-1] == "TASK_STARTED")
    for _ in range(2):
        before = len(server.connects)
        server.close_stream("w1")
        await until(partial(_is_back, server, before))
    gaps = [later - before for before, later in pairwise(server.connects)]
    assert all(gap >= _connect_stream.FIRST_DELAY_S / 2 for gap in gaps)
    (tmp_path / "a").touch()
    await until(lambda: stored.state in TERMINAL)
    assert (tmp_path / "ledger").read_text().split() == ["a"]


def _is_back(server: FakeServer, before: int) -> bool:
    return len(server.connects) > before and server.connected("w1")


async def test_stream_of_a_stopping_gateway_is_reopened_at_once(
    server: FakeServer, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_connect_stream, "FIRST_DELAY_S", 600.0)
    monkeypatch.setattr(_connect_stream, "MAX_DELAY_S", 600.0)
    monkeypatch.setattr(_connect_stream, "STABLE_STREAM_S", 0.0)
    await workers.start()
    server.comment("w1", "stopping")
    server.close_stream("w1")
    await until(partial(_is_back, server, 1))


async def test_short_stream_of_a_stopping_gateway_is_reopened_after_a_delay(
    server: FakeServer, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_connect_stream, "FIRST_DELAY_S", 0.4)
    monkeypatch.setattr(_connect_stream, "MAX_DELAY_S", 0.4)
    monkeypatch.setattr(_connect_stream, "STABLE_STREAM_S", 600.0)
    await workers.start()
    server.comment("w1", "stopping")
    server.close_stream("w1")
    await until(partial(_is_back, server, 1))
    assert server.connects[-1] - server.connects[0] >= 0.2


async def test_silent_stream_is_reopened(server: FakeServer, workers: Workers) -> None:
    await workers.start(stream_idle_s=0.05)
    await until(lambda: len(server.connects) >= 3)


async def test_malformed_frames_do_not_stop_the_worker(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    for event, data in [
        ("execution_scheduled", "{"),
        ("execution_scheduled", "[]"),
        ("execution_scheduled", '{"workflow": {}}'),
        ("execution_cancelled", "null"),
        ("execution_resumed", '{"workflow": 1, "context": 2}'),
        ("keep-alive", ""),
        ("something_new", '{"a": 1}'),
    ]:
        server.frame("w1", event, data)
    stored = server.start(source, "hello", "x")
    await until(lambda: stored.state in TERMINAL)
    assert len(server.connects) == 1


async def test_wrong_bootstrap_token_ends_the_worker(server: FakeServer) -> None:
    worker = Worker(Settings(name="w", server_url=server.url, bootstrap_token="wrong"))
    with pytest.raises(Refused, match="Invalid bootstrap token"):
        await worker.run()


async def test_worker_waits_for_a_name_in_use(server: FakeServer, workers: Workers) -> None:
    await workers.start("w1")
    second = Worker(Settings(name="w1", server_url=server.url, bootstrap_token="bootstrap-token"))
    waiting = asyncio.create_task(second.run())
    await until(lambda: sum("/register" in path for _, path in server.requests) >= 3)
    assert len(server.registrations) == 1
    await workers.kill("w1")
    await until(lambda: len(server.registrations) == 2 and server.connected("w1"))
    second.stop()
    await asyncio.wait_for(waiting, HANG_S)


@pytest.mark.parametrize(
    "answer", ["", "[1]", '{"state": "CLAIMED"}', '{"input": ' + "[" * 9999 + "]" * 9999 + "}"]
)
async def test_malformed_claim_response_releases_the_execution(
    server: FakeServer, workers: Workers, source: str, answer: str
) -> None:
    async def garbles(request: web.Request) -> web.Response | None:
        return web.Response(text=answer) if "/claim/" in request.path else None

    await workers.start()
    server.faults.append(garbles)
    stored = server.start(source, "hello", "World")
    await until(lambda: stored.releases)
    server.faults.clear()
    server.dispatch(stored)
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == "Hello, World"


ROUTES = ["/register", "/connect", "/claim/", "/checkpoint/", "/pong"]


@pytest.mark.parametrize("part", ROUTES)
async def test_server_that_limits_requests_is_asked_again(
    server: FakeServer, workers: Workers, source: str, part: str
) -> None:
    server.faults.append(times(3, part, 429))
    await workers.start()
    stored = server.start(source, "hello", "x")
    await until(lambda: stored.state in TERMINAL)
    await until(partial(is_answered, server, part))
    assert stored.output == "Hello, x"
    assert len(stored.types()) == len(set(stored.types()))


def is_exhausted(server: FakeServer, condition: Callable[[], bool]) -> bool:
    """Sends pings, which are answered by requests, until the condition is true."""
    if server.connected("w1"):
        server.ping()
    return condition()


def is_answered(server: FakeServer, part: str) -> bool:
    """Sends pings until the fault of a route has been used up."""
    if server.connected("w1"):
        server.ping()
    return sum(part in path for _, path in server.requests) > 3 or part == "/register"


async def test_checkpoint_above_the_limit_of_a_proxy_fails_the_execution_with_a_reason(
    server: FakeServer, workers: Workers, source: str
) -> None:
    server.faults.append(times(1, "/checkpoint/", 413, "<html>too large</html>"))
    await workers.start()
    stored = server.start(source, "gates", ["never"])
    await until(lambda: stored.state in TERMINAL)
    assert stored.output["type"] == "CheckpointRefused"
    assert stored.types()[-1] == "WORKFLOW_FAILED"
    other = server.start(source, "hello", "x")
    await until(lambda: other.state in TERMINAL)
    assert other.output == "Hello, x"


async def apply(server: FakeServer, request: web.Request) -> None:
    """Lets the server do what it is asked for; its answer is lost."""
    if "/checkpoint/" in request.path:
        await server._checkpoint(request)


GARBAGE = ["", "<html>Sign in</html>", '{"half": "of an ', "null", "[]", "\x00\xff"]


@pytest.mark.parametrize("is_applied", [True, False], ids=["applied", "not applied"])
@pytest.mark.parametrize("part", ROUTES)
async def test_server_that_answers_200_with_garbage_is_asked_again(
    server: FakeServer, workers: Workers, source: str, part: str, is_applied: bool
) -> None:
    left = [text for text in GARBAGE if text != "[]" or part in {"/register", "/claim/"}]
    # A checkpoint may have been stored, or the answer is of a proxy.
    if part == "/claim/":
        left = left[:3]

    async def garble(request: web.Request) -> web.Response | None:
        if part not in request.path or not left:
            return None
        if is_applied:
            await apply(server, request)
        return web.Response(text=left.pop(), content_type="text/html")

    server.faults.append(garble)
    await workers.start()
    stored = server.start(source, "many", 3)
    await until(lambda: stored.state in TERMINAL)
    await until(partial(is_exhausted, server, lambda: not left))
    ids = [event["id"] for event in stored.events]
    assert len(ids) == len(set(ids))
    assert stored.types().count("TASK_COMPLETED") == 4
    assert stored.output == 3


SERVICES = {
    "/secrets/": ("informs", ["s", 7]),
    "/configs/": ("informs", ["s", 7]),
    "/approvals/": ("pays", None),
    "/run/": ("calls", {"paid": True}),
}


@pytest.mark.parametrize("text", ["<html>Sign in</html>", "[1]", "{}"])
@pytest.mark.parametrize("part", ["/secrets/", "/approvals/", "/run/"])
async def test_garbage_in_place_of_a_value_reaches_no_task(
    server: FakeServer,
    workers: Workers,
    source: str,
    part: str,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_run_services, "FIRST_DELAY_S", 0.01)
    name, output = SERVICES[part]
    server.secrets, server.configs = {"key": "s"}, {"limit": 7}
    summary = {"execution_id": "e" * 32, "state": "COMPLETED", "output": {"paid": True}}
    server.run_answers.append(summary)
    server.faults.append(times(2, part, 200, text))
    await workers.start()
    stored = server.start(source, name, 5)
    await until(lambda: stored.state in {*TERMINAL, "PAUSED"})
    assert stored.state == ("PAUSED" if part == "/approvals/" else "COMPLETED")
    assert stored.output == output
    assert "TASK_FAILED" not in stored.types()


@pytest.mark.parametrize("part", ROUTES)
async def test_server_that_accepts_and_never_answers_is_asked_again(
    server: FakeServer, workers: Workers, source: str, part: str
) -> None:
    left = 2

    async def hang(request: web.Request) -> web.Response | None:
        nonlocal left
        if part in request.path and left:
            left -= 1
            await apply(server, request)
            await asyncio.sleep(3600)
        return None

    server.faults.append(hang)
    # In operation 30 s, and 60 s for the stream.
    await workers.start(request_timeout_s=0.5, stream_idle_s=0.5)
    stored = server.start(source, "many", 3)
    await until(lambda: stored.state in TERMINAL)
    await until(lambda: server.connected("w1") and is_exhausted(server, lambda: not left))
    ids = [event["id"] for event in stored.events]
    assert len(ids) == len(set(ids))
    assert stored.output == 3


async def test_half_a_frame_runs_nothing_and_the_whole_one_runs_once(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start()
    (tmp_path / "a").touch()
    stream = server._streams["w1"]
    server._streams["w1"] = asyncio.Queue()
    stored = server.start(source, "gates", ["a"])
    frame = server._streams["w1"].get_nowait()
    assert frame is not None
    server._streams["w1"] = stream
    stream.put_nowait(frame[: len(frame) // 2])
    server.close_stream("w1")
    await until(lambda: len(server.connects) == 2 and server.connected("w1"))
    assert not any("/claim/" in path for _, path in server.requests)
    server.resend_frame(stored)
    await until(lambda: stored.state in TERMINAL)
    assert stored.state == "COMPLETED"
    assert (tmp_path / "ledger").read_text().split() == ["a"]


async def test_half_an_answer_is_no_answer(
    server: FakeServer, workers: Workers, source: str
) -> None:
    left = 2

    async def cut(request: web.Request) -> web.StreamResponse | None:
        nonlocal left
        if "/checkpoint/" not in request.path or not left:
            return None
        left -= 1
        await apply(server, request)
        response = web.StreamResponse(headers={"Content-Length": "100"})
        await response.prepare(request)
        await response.write(b'{"state": "RUNNING"}')
        assert request.transport is not None
        request.transport.close()
        return response

    server.faults.append(cut)
    await workers.start()
    stored = server.start(source, "many", 3)
    await until(lambda: stored.state in TERMINAL)
    ids = [event["id"] for event in stored.events]
    assert len(ids) == len(set(ids))
    assert stored.output == 3
