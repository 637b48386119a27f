"""Fake server: the worker protocol over real HTTP, with state in memory.

It enforces the rules of the protocol: the claim generation fences writes, the log contains an event
once, and a worker name has one stream.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import uuid4

from aiohttp import web

from windlass._json import encode, loads

BOOTSTRAP = "bootstrap-token"
GENERATION = "X-Svc-Claim-Generation"
EXECUTION_TOKEN_HEADER = "X-Svc-Execution-Token"
TERMINAL = {"COMPLETED", "FAILED", "CANCELLED"}

Fault = Callable[[web.Request], Awaitable[web.StreamResponse | None]]


@dataclass
class StoredExecution:
    """Execution as the server stores it."""

    execution_id: str
    workflow: dict[str, Any]
    input_json: str
    state: str = "SCHEDULED"
    worker: str = ""
    generation: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)
    checkpoints: list[dict[str, Any]] = field(default_factory=list)
    checkpoint_texts: list[str] = field(default_factory=list)
    # JSON texts of event values that must not be re-encoded, by their placeholder in `events`.
    raw: dict[str, str] = field(default_factory=dict)
    progress: list[Any] = field(default_factory=list)
    # Captured lines by claim generation and number.
    lines: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)
    releases: list[str | None] = field(default_factory=list)
    # Number of releases because the process of the execution had ended.
    crashes: int = 0
    # Conditions of the releases that parked it.
    conditions: list[dict[str, Any]] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    # Execution tokens of the next claims, if any.
    renewals: list[str | None] = field(default_factory=list)

    def types(self) -> list[str]:
        """Returns the types of the events in the log."""
        return [event["type"] for event in self.events]

    @property
    def output(self) -> Any:
        """Value of the terminal event, or None."""
        return self.events[-1]["value"] if self.state in TERMINAL else None

    def append(self, type: str, value: Any = None) -> None:
        """Appends an event of the server."""
        self.events.append(
            {
                "id": uuid4().hex[:16],
                "type": type,
                "source_id": self.worker,
                "name": self.worker,
                "value": value,
                "time": "2026-01-02T03:04:05.000006Z",
                "subject": None,
            }
        )

    def context(self) -> str:
        """Returns the context as JSON text with the input exactly as it was sent."""
        members = {
            "workflow_id": self.workflow["id"],
            "workflow_namespace": self.workflow["namespace"],
            "workflow_name": self.workflow["name"],
            "execution_id": self.execution_id,
            "output": None,
            "state": self.state,
            "current_worker": self.worker,
            "events": self.events,
        }
        text = json.dumps(members)
        for name, raw in self.raw.items():
            text = text.replace(json.dumps(name), raw)
        return f'{{"input": {self.input_json}, {text[1:]}'


S = TypeVar("S", bound="FakeServer")


class FakeServer:
    """Server state, and operations for tests."""

    def __init__(self) -> None:
        self.url = ""
        self.executions: dict[str, StoredExecution] = {}
        self.registrations: list[dict[str, Any]] = []
        self.tokens: dict[str, str] = {}
        self.bootstrap_token = BOOTSTRAP
        # Announced additions to the protocol.
        self.features: list[str] = []
        self.refuses_parking = False
        # Seconds until the first checkpoint, the claim; None: executions have to be claimed.
        self.delivers_s: float | None = None
        # False: like a replica of an earlier release, it takes no checkpoint for a claim.
        self.takes_first_checkpoints = True
        # Execution tokens that are accepted, and path and credential of each request of a worker.
        self.execution_tokens: set[str] = set()
        self.credentials: list[tuple[str, str]] = []
        self.sent_sessions: list[str | None] = []
        self.pongs: list[dict[str, Any]] = []
        self.stale_writes = 0
        # Number of checkpoints in each request with several.
        self.batch_sizes: list[int] = []
        self.connects: list[float] = []
        self.requests: list[tuple[str, str]] = []
        self.secrets: dict[str, Any] = {}
        self.previous_secrets: dict[str, Any] = {}
        self.configs: dict[str, Any] = {}
        self.config_readers: list[str | None] = []
        self.approvals: dict[str, dict[str, Any]] = {}
        self.runs: list[tuple[str, str | None, Any]] = []
        self.run_answers: list[dict[str, Any]] = []
        self.faults: list[Fault] = []
        self._streams: dict[str, asyncio.Queue[bytes | None]] = {}

    # Operations of tests

    def start(self, source: str, name: str, input: Any = None, **extra: Any) -> StoredExecution:
        """Creates an execution and dispatches it to the connected worker."""
        workflow = {
            "id": uuid4().hex,
            "namespace": extra.pop("namespace", "default"),
            "name": name,
            "version": 1,
            "source": base64.b64encode(source.encode()).decode(),
        }
        raw = extra.pop("input_json", None)
        text = json.dumps(input) if raw is None else raw
        stored = StoredExecution(uuid4().hex, workflow, text, extra=extra)
        self.executions[stored.execution_id] = stored
        self.dispatch(stored)
        return stored

    def dispatch(self, stored: StoredExecution, worker: str | None = None) -> None:
        """Assigns an execution to a worker under a new claim generation."""
        resumed = stored.state == "RESUMING"
        stored.worker = worker or next(iter(self._streams))
        stored.generation += 1
        stored.state = "RESUME_SCHEDULED" if resumed else "SCHEDULED"
        stored.append("WORKFLOW_RESUME_SCHEDULED" if resumed else "WORKFLOW_SCHEDULED")
        self.resend_frame(stored)

    def resend_frame(self, stored: StoredExecution) -> None:
        """Sends the frame of an execution again."""
        kind = "execution_resumed" if stored.state.startswith("RESUME") else "execution_scheduled"
        extra = dict(stored.extra)
        if self.delivers_s is not None:
            extra["claim"] = {"generation": stored.generation, "timeout": self.delivers_s}
        members = json.dumps({"workflow": stored.workflow, **extra})
        self.frame(stored.worker, kind, f'{members[:-1]}, "context": {stored.context()}}}')

    def resume(self, stored: StoredExecution, body: Any, worker: str | None = None) -> None:
        """Resumes a paused execution."""
        stored.state = "RESUMING"
        stored.append("WORKFLOW_RESUMING", body)
        self.dispatch(stored, worker)

    def resume_with(self, stored: StoredExecution, body_json: str) -> None:
        """Resumes a paused execution with a body that is JSON text."""
        name = f"raw {len(stored.raw)}"
        stored.raw[name] = body_json
        self.resume(stored, name)

    def requeue(self, stored: StoredExecution) -> None:
        """Takes an execution from a lost worker; `dispatch` assigns it to the next one."""
        stored.generation += 1
        pausing = stored.state.startswith("RESUME")
        stored.state = "RESUMING" if pausing else "SCHEDULED"
        stored.worker = ""

    def cancel(self, stored: StoredExecution) -> None:
        """Requests cancellation of an execution."""
        stored.state = "CANCELLING"
        stored.append("WORKFLOW_CANCELLING")
        self.send_cancel(stored)

    def send_cancel(self, stored: StoredExecution, generation: int | None = None) -> None:
        """Sends a cancel frame for a claim generation, the present one unless it is given."""
        number = stored.generation if generation is None else generation
        data = f'{{"context": {stored.context()}, "claim_generation": {number}}}'
        self.frame(stored.worker, "execution_cancelled", data)

    def ping(self, worker: str | None = None) -> None:
        """Sends a ping."""
        self.frame(worker or next(iter(self._streams)), "ping", "")

    def frame(self, worker: str, event: str, data: str) -> None:
        """Sends a frame."""
        self._streams[worker].put_nowait(f"event: {event}\ndata: {data}\n\n".encode())

    def comment(self, worker: str, text: str) -> None:
        """Sends a comment."""
        self._streams[worker].put_nowait(f": {text}\n\n".encode())

    def close_stream(self, worker: str) -> None:
        """Ends a stream cleanly."""
        self._streams[worker].put_nowait(None)

    def connected(self, worker: str) -> bool:
        """Returns true if the worker has a stream."""
        return worker in self._streams

    # Routes of workers

    def app(self) -> web.Application:
        """Returns the application with its routes."""
        app = web.Application(middlewares=[self._middleware], client_max_size=2**26)
        worker = "/workers/{name}"
        app.add_routes(
            [
                web.post("/workers/register", self._register),
                web.get(f"{worker}/connect", self._connect),
                web.post(f"{worker}/claim/{{id}}", self._claim),
                web.post(f"{worker}/checkpoint/{{id}}", self._checkpoint),
                web.post(f"{worker}/checkpoints", self._checkpoints),
                web.post(f"{worker}/release/{{id}}", self._release),
                web.post(f"{worker}/progress/{{id}}", self._progress),
                web.post(f"{worker}/logs/{{id}}", self._lines),
                web.post(f"{worker}/pong", self._pong),
                web.post(f"{worker}/secrets/batch", self._secrets),
                web.post(f"{worker}/approvals/{{id}}", self._request_approval),
                web.get(f"{worker}/approvals/{{id}}/{{call:.+}}", self._approval),
                web.post("/admin/configs/batch", self._configs),
                web.post("/workflows/{namespace}/{workflow}/run/{mode}", self._run),
            ]
        )
        return app

    @web.middleware
    async def _middleware(
        self,
        request: web.Request,
        handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
    ) -> web.StreamResponse:
        self.requests.append((request.method, request.path))
        for fault in list(self.faults):
            if (answer := await fault(request)) is not None:
                return answer
        name = request.match_info.get("name")
        credential = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if name:
            self.credentials.append((request.path, credential))
        if name and credential not in {self.tokens.get(name), *self.execution_tokens}:
            return web.json_response({"detail": "Invalid or expired token"}, status=401)
        return await handler(request)

    async def _register(self, request: web.Request) -> web.Response:
        record = await request.json()
        name = record["name"]
        session = request.headers.get("X-Svc-Session")
        credential = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if "session_renewal" in self.features and credential == self.tokens.get(name):
            session = credential
        elif credential != self.bootstrap_token:
            return web.json_response({"detail": "Invalid bootstrap token."}, status=403)
        if name in self._streams and session != self.tokens.get(name):
            return web.json_response({"detail": "the name is in use"}, status=409)
        self.registrations.append(record)
        self.sent_sessions.append(session)
        self.tokens[name] = uuid4().hex
        return web.json_response(
            {"name": name, "session_token": self.tokens[name], "features": self.features}
        )

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        self.connects.append(asyncio.get_running_loop().time())
        if name in self._streams:
            self.close_stream(name)
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._streams[name] = queue
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        try:
            while (chunk := await queue.get()) is not None:
                await response.write(chunk)
        except ConnectionResetError:
            pass
        finally:
            if self._streams.get(name) is queue:
                del self._streams[name]
        return response

    async def _claim(self, request: web.Request) -> web.Response:
        stored = self.executions.get(request.match_info["id"])
        if stored is None:
            return web.json_response({"detail": "not found"}, status=404)
        sent = request.headers.get(GENERATION)
        is_stale = sent not in {None, str(stored.generation)}
        if stored.worker != request.match_info["name"] or stored.state in TERMINAL or is_stale:
            detail = f"Cannot claim execution {stored.execution_id}: "
            detail += f"current state is {stored.state}"
            return web.json_response({"detail": detail}, status=409)
        self._mark_claimed(stored)
        headers = {GENERATION: str(stored.generation), "X-Svc-Attempt": str(1 + stored.crashes)}
        if token := stored.renewals.pop(0) if stored.renewals else None:
            headers[EXECUTION_TOKEN_HEADER] = token
        return web.Response(text=stored.context(), content_type="application/json", headers=headers)

    def _mark_claimed(self, stored: StoredExecution) -> None:
        if stored.state in {"SCHEDULED", "RESUME_SCHEDULED"}:
            resumed = stored.state == "RESUME_SCHEDULED"
            stored.state = "RESUME_CLAIMED" if resumed else "CLAIMED"
            stored.append("WORKFLOW_RESUME_CLAIMED" if resumed else "WORKFLOW_CLAIMED")

    async def _checkpoint(self, request: web.Request) -> web.Response:
        worker, generation = request.match_info["name"], request.headers.get(GENERATION)
        status, answer = self._store_checkpoint(
            worker, request.match_info["id"], generation, await request.text()
        )
        return web.json_response(answer, status=status)

    async def _checkpoints(self, request: web.Request) -> web.Response:
        if "checkpoint_batches" not in self.features:
            return web.json_response({"detail": "Not Found"}, status=404)
        items = loads(await request.text())
        self.batch_sizes.append(len(items))
        results = []
        for item in items:
            checkpoint = item["checkpoint"]
            execution_id, generation = checkpoint["execution_id"], str(item["claim_generation"])
            status, answer = self._store_checkpoint(
                request.match_info["name"], execution_id, generation, encode(checkpoint)
            )
            results.append({**answer, "execution_id": execution_id, "status": status})
        return web.json_response(results)

    def _store_checkpoint(
        self, worker: str, execution_id: str, generation: str | None, text: str
    ) -> tuple[int, dict[str, Any]]:
        stored = self.executions.get(execution_id)
        if stored is None:
            return 404, {"detail": "not found"}
        body = loads(text)
        if refusal := self._refusal_of(worker, generation, stored):
            return 409, refusal
        is_unclaimed = stored.state in {"SCHEDULED", "RESUME_SCHEDULED"}
        takes_it = self.delivers_s is not None and self.takes_first_checkpoints
        if is_unclaimed and not (takes_it and generation is not None):
            return 409, {"detail": "stale-claim: not claimed"}
        self._mark_claimed(stored)
        stored.checkpoints.append(body)
        stored.checkpoint_texts.append(text)
        if "lines_in_checkpoints" in self.features:
            self._store_lines(stored, body.get("captured_lines") or {"first": 0, "lines": []})
        known = {(event["id"], event["type"]) for event in stored.events}
        stored.events += [e for e in body["events"] if (e["id"], e["type"]) not in known]
        if stored.state != "CANCELLING" or body["state"] in TERMINAL:
            stored.state = body["state"]
        return 200, {"execution_id": stored.execution_id, "state": stored.state}

    async def _release(self, request: web.Request) -> web.Response:
        stored = self.executions[request.match_info["id"]]
        if refusal := self._fence(request, stored):
            return refusal
        stored.releases.append(request.headers.get(GENERATION))
        body = json.loads(await request.text() or "{}")
        stored.crashes += body.get("crashed", False)
        if body.get("wake_at") or body.get("wake_on"):
            return self._park(stored, body)
        self.requeue(stored)
        return web.json_response({"status": "released", "state": stored.state})

    def _park(self, stored: StoredExecution, condition: dict[str, Any]) -> web.Response:
        if self.refuses_parking:
            return web.json_response({"detail": "refused"}, status=422)
        stored.conditions.append(condition)
        stored.state, stored.worker = "SCHEDULED", ""
        stored.generation += 1
        return web.json_response({"status": "released", "state": stored.state})

    def _fence(self, request: web.Request, stored: StoredExecution) -> web.Response | None:
        sent = request.headers.get(GENERATION)
        refusal = self._refusal_of(request.match_info["name"], sent, stored)
        return None if refusal is None else web.json_response(refusal, status=409)

    def _refusal_of(
        self, worker: str, sent: str | None, stored: StoredExecution
    ) -> dict[str, Any] | None:
        mine = stored.worker == worker
        if mine and stored.state not in TERMINAL and sent in {None, str(stored.generation)}:
            return None
        self.stale_writes += 1
        return {"detail": "stale-claim: another generation"}

    async def _progress(self, request: web.Request) -> web.Response:
        self.executions[request.match_info["id"]].progress += await request.json()
        return web.json_response({"status": "ok"})

    async def _lines(self, request: web.Request) -> web.Response:
        stored = self.executions[request.match_info["id"]]
        if refusal := self._fence(request, stored):
            return refusal
        self._store_lines(stored, await request.json())
        return web.json_response({"status": "ok"})

    def _store_lines(self, stored: StoredExecution, body: dict[str, Any]) -> None:
        for number, line in enumerate(body["lines"], body["first"]):
            stored.lines[stored.generation, number] = line

    async def _pong(self, request: web.Request) -> web.Response:
        self.pongs.append(await request.json())
        return web.json_response({"status": "ok"})

    async def _secrets(self, request: web.Request) -> web.Response:
        body = await request.json()
        missing = [name for name in body["names"] if name not in self.secrets]
        if missing:
            detail = f"Secrets not declared by workflow: {missing}"
            return web.json_response({"detail": detail}, status=403)
        if request.query.get("version") == "previous":
            return web.json_response({name: self.previous_secrets[name] for name in body["names"]})
        return web.json_response({name: self.secrets[name] for name in body["names"]})

    async def _configs(self, request: web.Request) -> web.Response:
        self.config_readers.append(request.headers.get("X-Svc-Execution-Id"))
        return web.json_response({name: self.configs[name] for name in await request.json()})

    async def _request_approval(self, request: web.Request) -> web.Response:
        body = await request.json()
        record = {"id": uuid4().hex, "status": "pending", "task_name": body["task_name"]}
        self.approvals[body["task_call_id"]] = record
        return web.json_response({"status": "created"})

    async def _approval(self, request: web.Request) -> web.Response:
        return web.json_response({"approval": self.approvals.get(request.match_info["call"])})

    async def _run(self, request: web.Request) -> web.Response:
        place = request.match_info
        key = request.headers.get("Idempotency-Key")
        self.runs.append((f"{place['namespace']}/{place['workflow']}", key, await request.json()))
        return web.json_response(self.run_answers.pop(0))


@asynccontextmanager
async def serve(server: S) -> AsyncIterator[S]:
    """Runs the server on a free port."""
    runner = web.AppRunner(server.app(), shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        for worker in list(server._streams):
            server.close_stream(worker)
        await runner.cleanup()
