"""Credentials of a worker process: what its workflows can read, and what it sends."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest
from aiohttp import web

from conftest import Workers, until
from server_fake import TERMINAL, FakeServer
from sources import SOURCE
from worker_process import Start, WorkerProcess

# A hostile workflow: searches its own process for a secret that it knows only reversed.
SEARCH = """
import os

from windlass import ExecutionContext, workflow


def contents():
    yield "environment", repr(dict(os.environ)).encode()
    for name in ("environ", "cmdline"):
        with open(f"/proc/self/{name}", "rb") as file:
            yield name, file.read()
    for number in os.listdir("/proc/self/fd"):
        link = f"/proc/self/fd/{number}"
        if os.path.isfile(link):
            yield link, open(link, "rb").read()
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
        for line in maps:
            area, rights = line.split()[:2]
            first, last = (int(end, 16) for end in area.split("-"))
            if not rights.startswith("rw") or "[v" in line:
                continue
            memory.seek(first)
            try:
                yield "memory", memory.read(last - first)
            except OSError:
                continue


@workflow
async def search(context: ExecutionContext[str]):
    # In pieces: the whole token must not get into memory by this search.
    forwards = [context.input[-12:][::-1].encode(), context.input[-24:-12][::-1].encode()]
    size, found = 0, set()
    for place, text in contents():
        size += len(text)
        at = text.find(forwards[0])
        while at >= 0:
            if text[at + 12 : at + 24] == forwards[1]:
                found.add(place)
            at = text.find(forwards[0], at + 1)
    return [sorted(found), size > 1_000_000]
"""

SOURCES = ["argument", "environment", "descriptor", "file"]


async def start_with(
    start: Start, source: str, server: FakeServer, tmp_path: Path
) -> WorkerProcess:
    """Starts a worker process that gets its token from a source."""
    command = ["--server-url", server.url, "--name", "p1"]
    token = server.bootstrap_token
    if source == "argument":
        return await start(*command, "--bootstrap-token", token)
    if source == "environment":
        return await start(*command, SVC_WORKERS__BOOTSTRAP_TOKEN=token)
    if source == "file":
        file = tmp_path / "token"
        file.write_text(token)
        return await start(*command, "--bootstrap-token-file", str(file))
    reading, writing = os.pipe()
    os.write(writing, token.encode())
    os.close(writing)
    os.set_inheritable(reading, True)
    started = await start(*command, "--bootstrap-token-fd", str(reading), pass_fds=(reading,))
    os.close(reading)
    return started


@pytest.mark.parametrize("source", SOURCES)
async def test_workflow_does_not_find_the_bootstrap_token_in_its_process(
    server: FakeServer, start: Start, tmp_path: Path, source: str
) -> None:
    server.features = ["session_renewal"]
    server.bootstrap_token = secrets.token_hex(24)
    process = await start_with(start, source, server, tmp_path)
    await until(lambda: server.connected("p1") or process.process.returncode is not None)
    stored = server.start(SEARCH, "search", server.bootstrap_token[::-1])
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == [[], True]


async def test_ended_session_ends_a_worker_that_has_dropped_its_token(
    server: FakeServer, start: Start, tmp_path: Path
) -> None:
    server.features = ["session_renewal"]
    process = await start_with(start, "environment", server, tmp_path)
    await until(lambda: server.connected("p1"))
    server.tokens["p1"] = "another session"
    server.close_stream("p1")
    assert await process.ended() == 1
    assert "403" in process.text


async def test_lost_registration_is_renewed_with_the_session_token(
    server: FakeServer, start: Start, tmp_path: Path
) -> None:
    server.features = ["session_renewal"]
    await start_with(start, "environment", server, tmp_path)
    await until(lambda: server.connected("p1"))
    first = server.tokens["p1"]

    async def forgets(request: web.Request) -> web.Response | None:
        is_due = len(server.registrations) == 1 and "/connect" in request.path
        return web.Response(status=404) if is_due else None

    server.faults.append(forgets)
    server.close_stream("p1")
    await until(lambda: len(server.registrations) == 2 and server.connected("p1"))
    assert server.sent_sessions == [None, first]
    instances = {record["instance"] for record in server.registrations}
    assert len(instances) == 1


@pytest.mark.parametrize("is_announced", [True, False])
async def test_reports_carry_the_execution_token_if_the_server_accepts_it(
    server: FakeServer, workers: Workers, tmp_path: Path, is_announced: bool
) -> None:
    server.features = ["execution_tokens"] if is_announced else []
    server.execution_tokens = {"of-the-claim"}
    await workers.start()
    stored = server.start(SOURCE.format(gate=str(tmp_path)), "hello", "x")
    stored.renewals = ["of-the-claim"]
    await until(lambda: stored.state in TERMINAL)
    sent = {credential for path, credential in server.credentials if "/checkpoint/" in path}
    assert sent == {"of-the-claim" if is_announced else server.tokens["w1"]}


async def test_rejected_execution_token_is_replaced_by_the_session_token(
    server: FakeServer, workers: Workers, tmp_path: Path
) -> None:
    server.features = ["execution_tokens"]
    await workers.start()
    stored = server.start(SOURCE.format(gate=str(tmp_path)), "hello", "x")
    stored.renewals = ["of-an-old-gateway"]
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == "Hello, x"
    assert len(server.registrations) == 1
