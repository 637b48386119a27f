"""Client: retries, typed errors, paging and streams, against a server of the test's own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from run_fixture import pass_time
from windlass import ExecutionContext, task, workflow
from windlass.client import (
    AsyncClient,
    Client,
    ClientError,
    ConflictError,
    ExecutionCancelledError,
    ExecutionPausedError,
    InvalidRequestError,
    NotAuthenticatedError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    UnavailableError,
)
from windlass.errors import ExecutionError

EXECUTION = "a" * 32


@dataclass
class Answer:
    """Answer of the server; `body` None closes the connection without one."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Requests:
    """Requests that the server got, and the answers that it gives."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    seen: list[tuple[str, str, str, dict[str, str]]] = field(default_factory=list)
    streams: list[list[str]] = field(default_factory=list)
    # Is called in place of the first answer, which does not come.
    on_first: Callable[[], None] | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        text = "" if "multipart" in request.content_type else await request.text()
        self.seen.append((request.method, request.path_qs, text, dict(request.headers)))
        if self.on_first is not None and len(self.seen) == 1:
            self.on_first()
            await self.ended.wait()
        if request.path.endswith("/events"):
            return await self._stream(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer.body is None:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        return web.json_response(answer.body, status=answer.status, headers=answer.headers)

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        frames = self.streams.pop(0)
        for one in frames:
            await response.write(one.encode())
        if not any('"WORKFLOW_COMPLETED"' in one for one in frames):
            # Lost: what the client has received and not yet read may be lost with it.
            assert request.transport is not None
            request.transport.close()
        return response


@asynccontextmanager
async def serve(*answers: Answer) -> AsyncIterator[Requests]:
    requests = Requests(answers=list(answers))
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", requests.handle)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    requests.url = runner.addresses[0] and f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield requests
    finally:
        await runner.cleanup()


def execution(state: str, output: Any = None, **more: Any) -> dict[str, Any]:
    return {
        "execution_id": EXECUTION,
        "workflow_namespace": "default",
        "workflow_name": "double",
        "state": state,
        "output": output,
        **more,
    }


@task
async def twice(number: int) -> int:
    return 2 * number


@dataclass(frozen=True)
class Doubled:
    number: int


@workflow
async def double(ctx: ExecutionContext[int]) -> Doubled:
    return Doubled(await twice(ctx.input))


async def test_refusal_for_now_is_repeated_as_retry_after_says_with_the_same_key() -> None:
    later = Answer(503, {"detail": "Service unavailable"}, {"Retry-After": "0.01"})
    limited = Answer(429, {"detail": "Rate limit exceeded"}, {"Retry-After": "0.02"})
    started = Answer(200, execution("SCHEDULED"))
    async with serve(later, limited, started) as server, AsyncClient(server.url) as client:
        handle = await client.start(double, 2)
    assert handle.execution_id == EXECUTION
    keys = {headers["Idempotency-Key"] for *_, headers in server.seen}
    assert (len(server.seen), len(keys)) == (3, 1)
    assert server.seen[0][:3] == ("POST", "/workflows/default/double/run/async", "2")


async def test_start_is_repeated_after_a_lost_answer_and_other_starts_have_other_keys() -> None:
    started = Answer(200, execution("SCHEDULED"))
    async with serve(Answer(), started) as server, AsyncClient(server.url) as client:
        await client.start("other/double")
        await client.start("double", idempotency_key="order-7")
    keys = [headers["Idempotency-Key"] for *_, headers in server.seen]
    assert keys[0] == keys[1]
    assert keys[2] == "order-7"
    assert server.seen[0][1] == "/workflows/other/double/run/async"


async def test_priority_and_version_of_a_start_are_sent_in_its_query() -> None:
    done = Answer(200, execution("COMPLETED", {"number": 4}))
    async with serve(done) as server, AsyncClient(server.url) as client:
        await client.start(double, 2, priority=0)
        await client.start(double, 2, priority=9, version=3)
        await client.run(double, 2, priority=7)
        await client.run(double, 2)
        with Client(server.url) as blocking:
            await asyncio.to_thread(lambda: blocking.start(double, 2, priority=1))
            await asyncio.to_thread(lambda: blocking.run(double, 2, priority=2))
    waiting = "wait_for=paused&timeout=20.0"
    assert [path.removeprefix("/workflows/default/double/run/") for _, path, *_ in server.seen] == [
        "async?priority=0",
        "async?version=3&priority=9",
        f"sync?priority=7&{waiting}",
        f"sync?{waiting}",
        "async?priority=1",
        f"sync?priority=2&{waiting}",
    ]


@pytest.mark.parametrize("method", ["start", "run"])
@pytest.mark.parametrize("priority", [-1, 10, 5.0, True, "5"])
async def test_priority_outside_of_0_to_9_is_refused_and_nothing_is_sent(
    method: str, priority: Any
) -> None:
    refused = "priority must be a whole number from 0 to 9"
    async with serve(Answer(200, execution("COMPLETED"))) as server:
        async with AsyncClient(server.url) as client:
            with pytest.raises(ValueError, match=refused):
                await getattr(client, method)("double", 2, priority=priority)
        with Client(server.url) as blocking:
            with pytest.raises(ValueError, match=refused):
                await asyncio.to_thread(getattr(blocking, method), "double", 2, priority=priority)
    assert server.seen == []


@pytest.mark.parametrize("answer", [Answer(), Answer(503, {"detail": "x"}), Answer(500, {})])
async def test_resume_whose_outcome_is_unknown_is_not_repeated(answer: Answer) -> None:
    paused = Answer(200, execution("PAUSED"))
    async with serve(paused, answer) as server, AsyncClient(server.url) as client:
        with pytest.raises(UnavailableError):
            await client.execution(EXECUTION).resume("yes")
    assert [method for method, *_ in server.seen] == ["GET", "POST"]


async def test_resume_is_repeated_when_the_rate_was_limited() -> None:
    answers = [execution("PAUSED"), {"detail": "wait"}, execution("RESUMING")]
    statuses = [200, 429, 200]
    given = [Answer(status, body) for status, body in zip(statuses, answers, strict=True)]
    async with serve(*given) as server, AsyncClient(server.url) as client:
        await client.execution(EXECUTION).resume({"a": 1})
    assert [text for _, _, text, _ in server.seen] == ["", '{"a":1}', '{"a":1}']


@pytest.mark.parametrize(
    ("status", "detail", "kind", "text"),
    [
        (400, "Invalid mode", InvalidRequestError, "Invalid mode"),
        (401, "Not authenticated", NotAuthenticatedError, "401: Not authenticated"),
        (403, "missing workflow:a:b:run", PermissionDeniedError, "workflow:a:b:run"),
        (404, "Workflow 'a/b' not found ", NotFoundError, "not found"),
        (409, {"message": "not paused"}, ConflictError, "not paused"),
        (413, "too large", InvalidRequestError, "too large"),
        (422, [{"loc": ["body", "id"], "msg": "missing"}], InvalidRequestError, "body.id: missing"),
    ],
)
async def test_refusal_is_a_typed_error_with_the_detail(
    status: int, detail: Any, kind: type[ClientError], text: str
) -> None:
    async with serve(Answer(status, {"detail": detail})) as server:
        async with AsyncClient(server.url) as client:
            with pytest.raises(kind, match=text) as refused:
                await client.run(double, 2)
    assert (refused.value.status, refused.value.detail) == (status, detail)
    assert len(server.seen) == 1


async def test_the_first_attempt_takes_as_long_as_all_others_may_it_is_repeated_with_the_same_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serve(Answer(body={"execution_id": EXECUTION, "state": "CREATED"})) as server:
        server.on_first = partial(pass_time, monkeypatch)
        async with AsyncClient(server.url) as client:
            try:
                handle = await client.start("double", 2)
            finally:
                server.ended.set()
    assert handle.execution_id == EXECUTION
    keys = [headers["Idempotency-Key"] for *_, headers in server.seen]
    assert len(keys) == 2
    assert len(set(keys)) == 1


async def test_server_that_stays_away_is_an_error_after_the_time_for_retries() -> None:
    limited = Answer(429, {"detail": "wait"}, {"Retry-After": "3600"})
    async with serve(limited) as server, AsyncClient(server.url, retry_for=0.2) as client:
        with pytest.raises(RateLimitedError):
            await client.start(double, 2)
    async with AsyncClient(server.url, retry_for=0.2) as client:
        refused = "got no answer: ClientConnectorError: Cannot connect to host"
        with pytest.raises(UnavailableError, match=refused):
            await client.start(double, 2)


async def test_answer_that_is_not_json_is_an_error() -> None:
    async def html(_: web.Request) -> web.Response:
        return web.Response(text="<html>", content_type="text/html")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", html)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with AsyncClient(f"http://127.0.0.1:{runner.addresses[0][1]}") as client:
        with pytest.raises(ClientError, match="is not JSON"):
            await client.execution(EXECUTION).state()
    await runner.cleanup()


async def test_run_waits_in_further_requests_and_returns_the_typed_output() -> None:
    running = Answer(200, execution("RUNNING"))
    done = Answer(200, execution("COMPLETED", {"number": 4}))
    async with serve(running, done) as server, AsyncClient(server.url, token="t") as client:
        assert await client.run(double, 2) == Doubled(4)
    (_, path, _, first), (*_, second) = server.seen
    assert path == "/workflows/default/double/run/sync?wait_for=paused&timeout=20.0"
    assert first["Idempotency-Key"] == second["Idempotency-Key"]
    assert first["Authorization"] == "Bearer t"


async def test_failed_cancelled_and_paused_executions_raise() -> None:
    failure = {"type": "ZeroDivisionError", "message": "by zero", "traceback": "line 7"}
    async with serve(Answer(200, execution("FAILED", failure))) as server:
        async with AsyncClient(server.url) as client:
            with pytest.raises(ZeroDivisionError, match="by zero") as failed:
                await client.run(double, 2)
    assert isinstance(failed.value, ExecutionError)
    assert failed.value.__notes__ == ["line 7"]
    async with serve(Answer(200, execution("CANCELLED"))) as server:
        async with AsyncClient(server.url) as client:
            with pytest.raises(ExecutionCancelledError):
                await client.execution(EXECUTION).result()
    event = {"type": "WORKFLOW_PAUSED", "source_id": "", "name": "double"}
    paused = execution("PAUSED", events=[{**event, "value": {"name": "review", "output": 3}}])
    async with serve(Answer(200, paused)) as server, AsyncClient(server.url) as client:
        with pytest.raises(ExecutionPausedError) as waiting:
            await client.execution(EXECUTION).result(wait_paused=False)
    assert (waiting.value.name, waiting.value.output) == ("review", 3)


def frame(seq: int, type: str, value: str = "null") -> str:
    data = f'{{"type":"{type}","source_id":"s","name":"n","value":{value},"time":""}}'
    return f"id: {seq}\nevent: {type.lower()}\ndata: {data}\n\n"


async def test_interrupted_stream_continues_behind_its_last_event() -> None:
    async with serve(Answer(200, execution("RUNNING"))) as server:
        server.streams = [
            [": execution_id x\n\n", frame(1, "WORKFLOW_STARTED"), "id: 2\nevent: ta"],
            [frame(2, "TASK_PROGRESS", "5"), frame(3, "WORKFLOW_COMPLETED")],
        ]
        async with AsyncClient(server.url) as client:
            events = [event async for event in client.execution(EXECUTION).stream()]
    assert [event.type for event in events] == [
        "WORKFLOW_STARTED",
        "TASK_PROGRESS",
        "WORKFLOW_COMPLETED",
    ]
    streams = [headers for _, path, _, headers in server.seen if path.endswith("/events")]
    assert "Last-Event-ID" not in streams[0]
    assert streams[1]["Last-Event-ID"] == "1"


async def test_result_follows_the_stream_and_ends_after_its_timeout() -> None:
    done = execution("COMPLETED", {"number": 4})
    async with serve(Answer(200, execution("RUNNING")), Answer(200, done)) as server:
        server.streams = [[frame(1, "WORKFLOW_COMPLETED")]]
        async with AsyncClient(server.url) as client:
            assert await client.execution(EXECUTION, double).result() == Doubled(4)
    async with serve(Answer(200, execution("RUNNING"))) as server:
        server.streams = [[] for _ in range(1000)]
        async with AsyncClient(server.url) as client:
            with pytest.raises(TimeoutError, match=f"{EXECUTION} has not ended after 0.3 s"):
                await client.execution(EXECUTION).result(timeout=0.3)


async def test_executions_are_read_page_by_page_and_each_once() -> None:
    ids = [f"{n:032x}" for n in range(4)]
    # Between the two pages another execution starts, which moves the others.
    pages = [ids[0:2], ids[1:3], ids[3:4]]
    answers = [
        Answer(200, {"executions": [{**execution("PAUSED"), "execution_id": one} for one in page]})
        for page in pages
    ]
    async with serve(*answers) as server, AsyncClient(server.url) as client:
        listed = client.executions(double, state="PAUSED", page_size=2)
        first = await anext(listed)
        assert (first.execution_id, len(server.seen)) == (ids[0], 1)
        assert [row.execution_id async for row in listed] == ids[1:]
    assert [path.partition("?")[2] for _, path, *_ in server.seen] == [
        f"limit=2&offset={offset}&namespace=default&workflow_name=double&state=PAUSED"
        for offset in (0, 2, 4)
    ]


async def test_approval_without_an_id_is_the_only_pending_one() -> None:
    approvals = {"approvals": [{"status": "pending", "task_call_id": "pay/1"}]}
    async with serve(Answer(200, approvals), Answer(200, {})) as server:
        async with AsyncClient(server.url) as client:
            await client.execution(EXECUTION).approve("fine")
    assert server.seen[1][1] == f"/executions/{EXECUTION}/approvals/pay%2F1/approve"
    assert server.seen[1][2] == '{"reason":"fine","always":false}'
    async with serve(Answer(200, {"approvals": []})) as server, AsyncClient(server.url) as client:
        with pytest.raises(ValueError, match="0 approvals are pending"):
            await client.execution(EXECUTION).reject()


async def test_token_may_be_a_function_and_is_never_sent_unencrypted_to_another_host() -> None:
    tokens = iter(["one", "two"])
    async with serve(Answer(200, execution("RUNNING"))) as server:
        async with AsyncClient(server.url, token=lambda: next(tokens)) as client:
            await client.execution(EXECUTION).state()
            await client.execution(EXECUTION).state()
    assert [headers["Authorization"] for *_, headers in server.seen] == ["Bearer one", "Bearer two"]
    with pytest.raises(ValueError, match="not encrypted"):
        AsyncClient("http://windlass.example", "t")
    with pytest.raises(ValueError, match="not encrypted"):
        Client("http://windlass.example", "t")
    AsyncClient("http://windlass.example", "t", insecure=True)


async def test_asynchronous_client_in_a_second_loop_is_refused() -> None:
    async with serve(Answer(200, execution("RUNNING"))) as server:
        async with AsyncClient(server.url) as client:
            await client.execution(EXECUTION).state()

            def other_loop() -> str:
                return asyncio.run(client.execution(EXECUTION).state())

            with pytest.raises(RuntimeError, match="event loop of its first request"):
                await asyncio.to_thread(other_loop)


async def test_synchronous_client_is_shared_by_threads_and_works_in_a_running_loop() -> None:
    done = Answer(200, execution("COMPLETED", {"number": 4}))
    async with serve(done) as server:

        def in_loop(client: Client) -> Doubled:
            async def body() -> Doubled:
                return client.run(double, 2)

            return asyncio.run(body())

        with Client(server.url) as client:
            runs = [asyncio.to_thread(client.run, double, 2) for _ in range(20)]
            assert await asyncio.gather(*runs) == [Doubled(4)] * 20
            assert await asyncio.to_thread(in_loop, client) == Doubled(4)
            handle = client.execution(EXECUTION, double)
            assert await asyncio.to_thread(handle.result) == Doubled(4)
        # A closed client opens new connections with its next request.
        assert await asyncio.to_thread(handle.state) == "COMPLETED"
        await asyncio.to_thread(client.close)


async def test_synchronous_iterators_read_what_they_need() -> None:
    rows = {"executions": [execution("PAUSED")]}
    async with serve(Answer(200, rows)) as server:
        server.streams = [[frame(1, "WORKFLOW_STARTED"), frame(2, "WORKFLOW_COMPLETED")]]
        client = Client(server.url)

        def read() -> tuple[list[str], list[str]]:
            states = [row.state for row in client.executions()]
            return states, [event.type for event in client.execution(EXECUTION).stream()]

        states, types = await asyncio.to_thread(read)
        assert states == ["PAUSED"]
        assert types == ["WORKFLOW_STARTED", "WORKFLOW_COMPLETED"]
        await asyncio.to_thread(client.close)


async def test_handle_is_shown_with_its_execution() -> None:
    with Client("http://127.0.0.1:1") as client:
        assert repr(client.execution(EXECUTION)) == f"Handle('{EXECUTION}')"
    async with AsyncClient("http://127.0.0.1:1") as client:
        assert repr(client.execution(EXECUTION)) == f"AsyncHandle('{EXECUTION}')"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
async def test_forked_process_gets_connections_of_its_own() -> None:
    async with serve(Answer(200, execution("RUNNING"))) as server:
        client = Client(server.url)
        await asyncio.to_thread(client.execution(EXECUTION).state)
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if client.execution(EXECUTION).state() == "RUNNING" else 1)
            finally:
                os._exit(2)
        _, status = await asyncio.to_thread(os.waitpid, child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        await asyncio.to_thread(client.close)


async def test_upload_sends_the_file_once(tmp_path: Path) -> None:
    path = tmp_path / "w.py"
    path.write_text("x = 1\n")
    rows = [{"namespace": "default", "name": "w", "version": 3}]
    async with serve(Answer(200, rows)) as server, AsyncClient(server.url) as client:
        (uploaded,) = await client.upload(path, dry_run=True)
    assert (uploaded.name, uploaded.version) == ("w", 3)
    assert server.seen[0][1] == "/workflows?dry_run=true&if_changed=false"
    async with serve(Answer(503, {"detail": "x"})) as server, AsyncClient(server.url) as client:
        with pytest.raises(UnavailableError):
            await client.upload(path)
    assert len(server.seen) == 1
