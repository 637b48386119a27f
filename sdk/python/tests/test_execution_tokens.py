"""Execution tokens: a run outlives its token, because another claim renews it."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web

from conftest import Workers, until
from server_fake import TERMINAL, FakeServer, Fault, StoredExecution
from sources import SOURCE

DONE = {"execution_id": "e", "state": "COMPLETED", "output": "done"}


@pytest.fixture
def source(tmp_path: Path) -> str:
    return SOURCE.format(gate=str(tmp_path))


def accept_tokens(server: FakeServer, *valid: str) -> list[str]:
    """Lets nested runs pass only with the valid tokens; returns the tokens seen, in order."""
    seen_tokens: list[str] = []

    async def check_token(request: web.Request) -> web.Response | None:
        if "/run/" not in request.path:
            return None
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        seen_tokens.append(token)
        if token in valid:
            return None
        return web.json_response({"detail": "Invalid or expired token"}, status=401)

    fault: Fault = check_token
    server.faults.append(fault)
    return seen_tokens


async def run_to_the_end(
    server: FakeServer, workers: Workers, source: str, renewals: list[str | None]
) -> StoredExecution:
    """Runs an execution that has an old token; each claim returns the next token of `renewals`."""
    await workers.start()
    stored = server.start(source, "calls", exec_token="old")
    stored.renewals = renewals
    await until(lambda: stored.state in TERMINAL)
    return stored


def claims(server: FakeServer, stored: StoredExecution) -> int:
    return [path for _, path in server.requests].count(
        f"/workers/{stored.worker}/claim/{stored.execution_id}"
    )


async def test_expired_token_is_renewed_by_another_claim(
    server: FakeServer, workers: Workers, source: str
) -> None:
    seen_tokens = accept_tokens(server, "renewed")
    server.run_answers = [DONE]
    # The first claim returns no token, as servers of the reference release do.
    stored = await run_to_the_end(server, workers, source, [None, "renewed"])
    assert (stored.state, stored.output) == ("COMPLETED", "done")
    assert seen_tokens == ["old", "renewed"]
    assert claims(server, stored) == 2


async def test_token_of_the_claim_takes_precedence_over_that_of_the_frame(
    server: FakeServer, workers: Workers, source: str
) -> None:
    seen_tokens = accept_tokens(server, "claimed")
    server.run_answers = [DONE]
    stored = await run_to_the_end(server, workers, source, ["claimed"])
    assert (stored.state, seen_tokens) == ("COMPLETED", ["claimed"])


async def test_refused_renewed_token_fails_the_execution(
    server: FakeServer, workers: Workers, source: str
) -> None:
    seen_tokens = accept_tokens(server)
    stored = await run_to_the_end(server, workers, source, ["claimed", "renewed"])
    assert stored.state == "FAILED"
    assert stored.output["message"] == "Invalid or expired token"
    assert seen_tokens == ["claimed", "renewed"]
    assert server.runs == []
