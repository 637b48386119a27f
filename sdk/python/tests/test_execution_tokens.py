"""A run outlives the tokens that it acts under: the worker claims again for another one."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web

from conftest import Workers, until
from server import TERMINAL, Fault, Server, Stored
from sources import SOURCE

DONE = {"execution_id": "e", "state": "COMPLETED", "output": "done"}


@pytest.fixture
def source(tmp_path: Path) -> str:
    return SOURCE.format(gate=str(tmp_path))


def takes(server: Server, *valid: str) -> list[str]:
    """Nested runs are let in with these tokens alone. Answers what was shown, in order."""
    shown: list[str] = []

    async def judge(request: web.Request) -> web.Response | None:
        if "/run/" not in request.path:
            return None
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        shown.append(token)
        if token in valid:
            return None
        return web.json_response({"detail": "Invalid or expired token"}, status=401)

    fault: Fault = judge
    server.faults.append(fault)
    return shown


async def run_to_the_end(
    server: Server, workers: Workers, source: str, renewals: list[str | None]
) -> Stored:
    """An execution that came with an old token; each claim is answered with the next of these."""
    await workers.start()
    stored = server.start(source, "calls", exec_token="old")
    stored.renewals = renewals
    await until(lambda: stored.state in TERMINAL)
    return stored


def claims(server: Server, stored: Stored) -> int:
    return [path for _, path in server.requests].count(
        f"/workers/{stored.worker}/claim/{stored.execution_id}"
    )


async def test_a_token_that_has_expired_is_renewed_by_a_claim(
    server: Server, workers: Workers, source: str
) -> None:
    shown = takes(server, "renewed")
    server.run_answers = [DONE]
    # The claim that takes the work gives no token, as those of other servers.
    stored = await run_to_the_end(server, workers, source, [None, "renewed"])
    assert (stored.state, stored.output) == ("COMPLETED", "done")
    assert shown == ["old", "renewed"]
    assert claims(server, stored) == 2


async def test_a_token_that_came_with_the_claim_is_used_before_that_of_the_frame(
    server: Server, workers: Workers, source: str
) -> None:
    shown = takes(server, "claimed")
    server.run_answers = [DONE]
    stored = await run_to_the_end(server, workers, source, ["claimed"])
    assert (stored.state, shown) == ("COMPLETED", ["claimed"])


async def test_a_refusal_of_the_new_token_too_is_the_end_of_it(
    server: Server, workers: Workers, source: str
) -> None:
    shown = takes(server)
    stored = await run_to_the_end(server, workers, source, ["claimed", "renewed"])
    assert stored.state == "FAILED"
    assert stored.output["message"] == "Invalid or expired token"
    assert shown == ["claimed", "renewed"]
    assert server.runs == []
