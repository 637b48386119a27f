"""Checkpoints of several executions in one request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
from aiohttp import web

from conftest import Workers, until
from server_fake import TERMINAL, FakeServer
from sources import SOURCE
from windlass._json import encode, loads
from windlass._trace import current_traceparent
from windlass.worker import _checkpoint_batches
from windlass.worker._api import Refused, Unavailable
from windlass.worker._checkpoint_batches import CheckpointBatches
from windlass.worker._http import HttpResponse

LARGE = b'"%b"' % (b"x" * (64 * 1024))
TRACE_A = "00-" + "1" * 32 + "-" + "2" * 16 + "-01"
TRACE_B = "00-" + "3" * 32 + "-" + "4" * 16 + "-01"


class Server:
    """Records requests, and answers each when the test says so."""

    def __init__(self) -> None:
        self.requests: list[list[str]] = []
        # The current traceparent of each request, and the member of each checkpoint of a batch.
        self.headers: list[str | None] = []
        self.members: list[str | None] = []
        self.answers: list[asyncio.Future[HttpResponse | None]] = []
        self.batches = CheckpointBatches(self._one, self._several)
        self._ids: dict[bytes, str] = {}

    def send(self, execution_id: str, body: bytes | None = None) -> asyncio.Task[None]:
        body = body or encode({"execution_id": execution_id}).encode()
        return asyncio.ensure_future(self.batches.send(execution_id, body, "3"))

    def send_traced(self, execution_id: str, traceparent: str) -> asyncio.Task[None]:
        token = current_traceparent.set(traceparent)
        try:
            return self.send(execution_id)
        finally:
            current_traceparent.reset(token)

    async def answer(
        self, results: Sequence[object] | None = None, error: Exception | None = None
    ) -> None:
        """Answers the oldest request."""
        answer = self.answers.pop(0)
        if error:
            answer.set_exception(error)
        else:
            answer.set_result(HttpResponse(200, encode(results).encode(), {}))
        await asyncio.sleep(0.001)

    async def _one(self, execution_id: str, body: bytes, generation: str | None) -> None:
        await self._request([execution_id])

    async def _several(self, body: bytes) -> HttpResponse:
        items = loads(body)
        assert {item["claim_generation"] for item in items} == {3}
        self.members += [item.get("traceparent") for item in items]
        return await self._request([item["checkpoint"]["execution_id"] for item in items])

    async def _request(self, ids: list[str]) -> HttpResponse:
        self.requests.append(ids)
        self.headers.append(current_traceparent.get())
        answer: asyncio.Future[HttpResponse] = asyncio.get_running_loop().create_future()
        self.answers.append(answer)  # type: ignore[arg-type]
        return await answer


@pytest.fixture
async def fake() -> Server:
    return Server()


async def test_one_checkpoint_at_a_time_is_sent_alone(fake: Server) -> None:
    for name in ["a", "b"]:
        sent = fake.send(name)
        await asyncio.sleep(0)
        await fake.answer()
        await sent
    assert fake.requests == [["a"], ["b"]]


async def test_checkpoints_during_a_request_go_together_in_the_next(fake: Server) -> None:
    tasks = [fake.send(name) for name in ["a", "b", "c"]]
    await asyncio.sleep(0)
    assert fake.requests == [["a"]]
    await fake.answer()
    assert fake.requests == [["a"], ["b", "c"]]
    await fake.answer([{"status": 200}, {"status": 200}])
    await asyncio.gather(*tasks)


async def test_each_checkpoint_of_a_batch_has_its_own_result(fake: Server) -> None:
    tasks = [fake.send(name) for name in ["a", "b", "c", "d"]]
    await asyncio.sleep(0)
    await fake.answer()
    await fake.answer([{"status": 200}, {"status": 409, "detail": "stale-claim"}, {"status": 503}])
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert results[:2] == [None, None]
    assert isinstance(results[2], Refused)
    assert results[2].is_stale
    assert isinstance(results[3], Unavailable)


@pytest.mark.parametrize(
    "results", [[{"status": 200}], {}, [{}, {}], [1, 2], [{"status": "200"}, {"status": 200}]]
)
async def test_malformed_answer_fails_the_batch_as_unavailable(
    fake: Server, results: list[object]
) -> None:
    tasks = [fake.send(name) for name in ["a", "b", "c"]]
    await asyncio.sleep(0)
    await fake.answer()
    await fake.answer(results)
    failed = (await asyncio.gather(*tasks, return_exceptions=True))[1:]
    assert [type(error) for error in failed] == [Unavailable, Unavailable]


async def test_refused_batch_is_sent_one_by_one(fake: Server) -> None:
    tasks = [fake.send(name) for name in ["a", "b", "c"]]
    await asyncio.sleep(0)
    await fake.answer()
    await fake.answer(error=Refused(404, "Not Found"))
    assert fake.requests == [["a"], ["b", "c"], ["b"], ["c"]]
    await fake.answer(error=Refused(422, "unknown state"))
    await fake.answer()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [type(None), Refused, type(None)]


async def test_unexpected_error_reaches_every_execution_of_the_batch(fake: Server) -> None:
    tasks = [fake.send(name) for name in ["a", "b", "c"]]
    await asyncio.sleep(0)
    await fake.answer()
    await fake.answer(error=RuntimeError("defect"))
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [type(None), RuntimeError, RuntimeError]


async def test_large_checkpoints_are_sent_alone_at_once(fake: Server) -> None:
    tasks = [fake.send("a"), fake.send("large", LARGE)]
    await asyncio.sleep(0)
    assert fake.requests == [["a"], ["large"]]
    for _ in tasks:
        await fake.answer()
    await asyncio.gather(*tasks)


async def test_traced_checkpoints_of_a_batch_carry_their_own_context(fake: Server) -> None:
    tasks = [fake.send_traced("a", TRACE_A)]
    await asyncio.sleep(0)
    tasks += [fake.send_traced("b", TRACE_B), fake.send("c")]
    await asyncio.sleep(0)
    await fake.answer()
    assert fake.requests == [["a"], ["b", "c"]]
    # Of the header of each request, and of the members of the batch.
    assert fake.headers == [TRACE_A, None]
    assert fake.members == [TRACE_B, None]
    await fake.answer([{"status": 200}, {"status": 200}])
    await asyncio.gather(*tasks)


async def test_traced_checkpoint_that_waits_alone_is_sent_in_its_own_context(fake: Server) -> None:
    tasks = [fake.send_traced("a", TRACE_A)]
    await asyncio.sleep(0)
    tasks.append(fake.send_traced("b", TRACE_B))
    await asyncio.sleep(0)
    await fake.answer()
    await fake.answer()
    assert fake.headers == [TRACE_A, TRACE_B]
    await asyncio.gather(*tasks)


async def test_batches_are_limited_in_number_size_and_to_one_of_each_execution(
    fake: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_checkpoint_batches, "MAX_BATCH_SIZE", 2)
    monkeypatch.setattr(_checkpoint_batches, "MAX_BATCH_BYTES", 100)
    wide = encode({"execution_id": "f", "x": "y" * 90}).encode()
    tasks = [fake.send(name) for name in ["a", "b", "c", "d", "d"]] + [fake.send("f", wide)]
    await asyncio.sleep(0)
    ok = {"status": 200}
    for results in [None, [ok, ok], None, None, None]:
        await fake.answer(results)
    await asyncio.gather(*tasks)
    assert fake.requests == [["a"], ["b", "c"], ["d"], ["d"], ["f"]]


async def test_late_request_does_not_hold_up_the_next(
    fake: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_checkpoint_batches, "LATE_S", 0.01)
    tasks = [fake.send("hung"), fake.send("a")]
    await until(lambda: fake.requests == [["hung"], ["a"]])
    late = fake.answers.pop(0)
    await fake.answer()
    await tasks[1]
    tasks += [fake.send("b"), fake.send("c")]
    await asyncio.sleep(0)
    assert fake.requests[2:] == [["b"]]
    late.set_result(None)
    await asyncio.sleep(0.001)
    assert fake.requests[2:] == [["b"]]
    await fake.answer()
    await fake.answer()
    await asyncio.gather(*tasks)


async def test_hung_requests_are_limited(fake: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_checkpoint_batches, "LATE_S", 0.0)
    monkeypatch.setattr(_checkpoint_batches, "MAX_REQUESTS", 3)
    tasks: list[asyncio.Task[None]] = []
    for number in range(6):
        tasks.append(fake.send(str(number)))
        await asyncio.sleep(0.005)
    assert fake.requests == [["0"], ["1"], ["2"]]
    await fake.answer()
    assert fake.requests[3:] == [["3", "4", "5"]]
    ok = {"status": 200}
    for results in [None, None, [ok, ok, ok]]:
        await fake.answer(results)
    await asyncio.gather(*tasks)


async def test_cancelled_execution_leaves_the_queue(fake: Server) -> None:
    tasks = [fake.send(name) for name in ["a", "b", "c"]]
    await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.sleep(0)
    await fake.answer()
    assert fake.requests == [["a"], ["c"]]
    await fake.answer()
    await tasks[2]


@pytest.fixture
def source(tmp_path: Path) -> str:
    return SOURCE.format(gate=str(tmp_path))


def held(release: asyncio.Event) -> Callable[[web.Request], Awaitable[None]]:
    """Returns a fault that delays checkpoints until the event."""

    async def hold(request: web.Request) -> None:
        if "/checkpoint" in request.path:
            await release.wait()

    return hold


async def test_executions_that_end_together_share_requests(
    server: FakeServer, workers: Workers, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_checkpoint_batches, "LATE_S", 60.0)
    server.features, server.delivers_s = ["checkpoint_batches"], 60.0
    release = asyncio.Event()
    server.faults.append(held(release))
    await workers.start()
    stored = [server.start(source, "hello", f"x{number}") for number in range(8)]
    await until(lambda: any("/checkpoint" in path for _, path in server.requests))
    await asyncio.sleep(0.2)
    release.set()
    await until(lambda: all(one.state in TERMINAL for one in stored))
    assert [one.output for one in stored] == [f"Hello, x{number}" for number in range(8)]
    assert max(server.batch_sizes) > 1
    assert server.stale_writes == 0


async def test_execution_that_was_taken_back_is_dropped_and_the_others_of_its_batch_end(
    server: FakeServer, workers: Workers, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_checkpoint_batches, "LATE_S", 60.0)
    server.features, server.delivers_s = ["checkpoint_batches"], 60.0
    release = asyncio.Event()
    server.faults.append(held(release))
    await workers.start()
    stored = [server.start(source, "hello", f"x{number}") for number in range(8)]
    await until(lambda: any("/checkpoint" in path for _, path in server.requests))
    await asyncio.sleep(0.2)
    for one in stored[::2]:
        server.requeue(one)
    release.set()
    await until(lambda: all(one.state in TERMINAL for one in stored[1::2]))
    await until(lambda: server.stale_writes >= 4)
    assert {one.state for one in stored[::2]} == {"SCHEDULED"}
    assert max(server.batch_sizes) > 1
