"""Worker protocol over HTTP."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import aiohttp

from windlass._json import encode, loads
from windlass._narrow import is_object
from windlass._parking import WakeCondition
from windlass._services import Approval
from windlass.worker._api import CALL_WAIT_S, Unavailable
from windlass.worker._checkpoint_batches import CheckpointBatches
from windlass.worker._http import HttpResponse, send
from windlass.worker._models import Claim, parse_claim
from windlass.worker._registration import Registration
from windlass.worker._settings import Settings

EXECUTION_HEADER = "X-Svc-Execution-Id"
GENERATION_HEADER = "X-Svc-Claim-Generation"
# Name of the header that servers of the reference release expect.
COMPATIBLE_GENERATION_HEADER = "X-Flux-Claim-Generation"

# Above 1: the previous attempt crashed, or its worker was lost.
ATTEMPT_HEADER = "X-Svc-Attempt"

# A claim returns a new token in place of the one in the frame.
EXECUTION_TOKEN_HEADER = "X-Svc-Execution-Token"

# Of the server before a pong fails. While one is unanswered, no other is sent, and the server
# evicts a worker after 40 s without any. The wait for a connection, which calls of workflows may
# hold, does not count: a pong that failed would begin it again.
PONG_SILENCE_S = 5.0

# Of an answer in a log line, in bytes.
MAX_SHOWN = 80

_SESSION_REJECTED = frozenset({401, 403})


class HttpApi:
    """Client of one server for one worker."""

    def __init__(
        self, http: aiohttp.ClientSession, settings: Settings, registration: Registration
    ) -> None:
        self._http = http
        self._settings = settings
        self._registration = registration
        self._path = registration.path
        self._execution_tokens: dict[str, _ExecutionToken] = {}
        self._batches = CheckpointBatches(self._checkpoint_alone, self._checkpoint_batch)

    @property
    def authorizes_tasks(self) -> bool:
        return self._registration.authorizes_tasks

    async def claim(self, execution_id: str, generation: str | None = None) -> Claim:
        response = await self._post(f"/claim/{execution_id}", generation=generation)
        with _reading("claim"):
            claim = _parse_claim(response)
        self.adopt(claim)
        return claim

    def adopt(self, claim: Claim) -> None:
        execution_id = claim.context.execution_id
        self._execution_tokens.pop(execution_id, None)
        if claim.exec_token and "execution_tokens" in self._registration.session.features:
            token = _ExecutionToken(claim.exec_token, claim.generation)
            self._execution_tokens[execution_id] = token

    def forget(self, execution_id: str) -> None:
        self._execution_tokens.pop(execution_id, None)

    async def checkpoint(self, execution_id: str, body: bytes, generation: str | None) -> None:
        if "checkpoint_batches" in self._registration.session.features:
            await self._batches.send(execution_id, body, generation)
        else:
            await self._checkpoint_alone(execution_id, body, generation)

    async def _checkpoint_alone(
        self, execution_id: str, body: bytes, generation: str | None
    ) -> None:
        await self._post_for(execution_id, f"/checkpoint/{execution_id}", body, generation)

    async def _checkpoint_batch(self, body: bytes) -> HttpResponse:
        return await self._post("/checkpoints", body)

    @property
    def park_after_s(self) -> float | None:
        can_park = "parking" in self._registration.session.features
        return self._settings.park_after_s if can_park else None

    async def release(
        self,
        execution_id: str,
        generation: str | None,
        *,
        crashed: bool,
        condition: WakeCondition | None,
    ) -> None:
        body = b'{"crashed":true}' if crashed else None
        if condition is not None:
            body = encode(condition.to_wire()).encode()
        await self._post_for(execution_id, f"/release/{execution_id}", body, generation)

    async def publish_progress(
        self, execution_id: str, body: bytes, generation: str | None
    ) -> None:
        await self._post_for(execution_id, f"/progress/{execution_id}", body, generation)

    @property
    def stores_lines(self) -> bool:
        has_feature = "captured_lines" in self._registration.session.features
        return self._settings.capture_logs and has_feature

    @property
    def stores_lines_of_checkpoints(self) -> bool:
        return "lines_in_checkpoints" in self._registration.session.features

    async def store_lines(self, execution_id: str, body: bytes, generation: str | None) -> None:
        await self._post_for(execution_id, f"/logs/{execution_id}", body, generation)

    async def pong(self, body: bytes) -> None:
        await self._post("/pong", body, silence_s=PONG_SILENCE_S)

    async def fetch_secrets(
        self, execution_id: str, names: Sequence[str], *, previous: bool = False
    ) -> dict[str, Any]:
        body = encode({"execution_id": execution_id, "names": list(names)}).encode()
        # 403 means that the workflow may not read the secrets, not that the session is invalid.
        only_401 = frozenset({401})
        path = "/secrets/batch?version=previous" if previous else "/secrets/batch"
        response = await self._post_for(execution_id, path, body, rejected_at=only_401)
        return _values_of(names, response, "secrets")

    async def fetch_configs(self, execution_id: str, names: Sequence[str]) -> dict[str, Any]:
        url = f"{self._settings.server_url}/admin/configs/batch"
        body = encode(list(names)).encode()
        # The server answers the configs that the workflow of this execution may use.
        more = {EXECUTION_HEADER: execution_id}
        only_401 = frozenset({401})
        response = await self._send_for(
            execution_id, "POST", url, body, rejected_at=only_401, more=more
        )
        return _values_of((), response, "configs")

    async def authorize_task(self, execution_id: str, task_name: str, token: str) -> None:
        path = f"/executions/{execution_id}/authorize/{quote(task_name, safe='')}"
        url = f"{self._settings.server_url}{path}"
        headers = {"Authorization": f"Bearer {token}"}
        timeout_s = self._settings.request_timeout_s
        response = await send(self._http, "POST", url, headers, None, timeout_s)
        _check(response)

    async def request_approval(self, execution_id: str, call_id: str, task_name: str) -> str:
        body = encode({"task_call_id": call_id, "task_name": task_name}).encode()
        response = await self._post_for(execution_id, f"/approvals/{execution_id}", body)
        with _reading("approval"):
            return str(loads(response.body)["status"])

    async def find_approval(self, execution_id: str, call_id: str) -> Approval | None:
        path = f"{self._path}/approvals/{execution_id}/{quote(call_id)}"
        url = f"{self._settings.server_url}{path}"
        response = await self._send_for(execution_id, "GET", url, None)
        with _reading("approval"):
            record = loads(response.body).get("approval")
            if not record:
                return None
            return Approval(
                status=record["status"],
                approval_id=record.get("id"),
                requested_at=record.get("requested_at"),
                approver_subject=record.get("approver_subject"),
                approver_provider=record.get("approver_provider"),
                reason=record.get("reason"),
            )

    async def cancel_workflow(self, execution_id: str, nested_id: str) -> None:
        await self._post_for(execution_id, f"/nested/{execution_id}/{nested_id}/cancel", None)

    async def run_workflow(
        self, path: str, body: bytes, *, key: str, token: str | None
    ) -> dict[str, Any]:
        url = f"{self._settings.server_url}/workflows/{path}"
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": key,
            "X-Svc-Preferred-Worker": self._settings.name,
        }
        if token:
            headers["Authorization"] = f"Bearer {token}"
        timeout_s = CALL_WAIT_S + self._settings.request_timeout_s
        response = await send(self._http, "POST", url, headers, body, timeout_s)
        _check(response)
        with _reading("run"):
            summary: dict[str, Any] = loads(response.body)
            if not {"execution_id", "state"} <= summary.keys():
                raise ValueError("members are missing")
            return summary

    async def _post_for(
        self,
        execution_id: str,
        path: str,
        body: bytes | None,
        generation: str | None = None,
        rejected_at: frozenset[int] = _SESSION_REJECTED,
    ) -> HttpResponse:
        url = f"{self._settings.server_url}{self._path}{path}"
        return await self._send_for(execution_id, "POST", url, body, generation, rejected_at)

    async def _send_for(
        self,
        execution_id: str,
        method: str,
        url: str,
        body: bytes | None,
        generation: str | None = None,
        rejected_at: frozenset[int] = _SESSION_REJECTED,
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> HttpResponse:
        """Sends with the token of the execution, or with the session token if that is rejected."""
        token = self._execution_tokens.get(execution_id)
        if token is not None and generation in {None, token.generation}:
            headers = {**_headers(token.text, body, generation), **more}
            timeout_s = self._settings.request_timeout_s
            response = await send(self._http, method, url, headers, body, timeout_s)
            if response.status not in rejected_at:
                _check(response)
                return response
            # Expired, or an older server behind the same address: the session token decides.
            self._execution_tokens.pop(execution_id, None)
        return await self._send(method, url, body, generation, rejected_at, more)

    async def _post(
        self,
        path: str,
        body: bytes | None = None,
        generation: str | None = None,
        renew_at: frozenset[int] = _SESSION_REJECTED,
        silence_s: float | None = None,
    ) -> HttpResponse:
        url = f"{self._settings.server_url}{self._path}{path}"
        return await self._send("POST", url, body, generation, renew_at, silence_s=silence_s)

    async def _send(
        self,
        method: str,
        url: str,
        body: bytes | None,
        generation: str | None = None,
        renew_at: frozenset[int] = _SESSION_REJECTED,
        more: Mapping[str, str] = MappingProxyType({}),
        silence_s: float | None = None,
    ) -> HttpResponse:
        timeout_s = self._settings.request_timeout_s
        is_renewed = False
        while True:
            token = self._registration.token
            headers = {**_headers(token, body, generation), **more}
            response = await send(self._http, method, url, headers, body, timeout_s, silence_s)
            if response.status not in renew_at:
                break
            await self._registration.renew(token)
            if is_renewed:
                break
            is_renewed = True
        _check(response)
        return response


@dataclass(frozen=True, slots=True)
class _ExecutionToken:
    """Credential for the requests of one claimed execution."""

    text: str
    generation: str | None


def _check(response: HttpResponse) -> None:
    """Raises Refused for an error, and Unavailable for an answer that is not of the server.

    Every answer of the server is JSON. A proxy between it and the worker may answer 200 with a page
    of its own; without this check, the worker would take a lost checkpoint for a stored one.
    """
    if response.status >= 400:
        raise response.refusal
    body = response.body.strip()
    if response.status >= 300 or body[:1] + body[-1:] not in {b"{}", b"[]"}:
        raise Unavailable(f"an answer {response.status} without JSON: {body[:MAX_SHOWN]!r}")


@contextmanager
def _reading(subject: str) -> Generator[None, None, None]:
    """Raises Unavailable for an answer that cannot be read."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unavailable(f"invalid {subject} response: {error!r}") from error


def _values_of(names: Sequence[str], response: HttpResponse, subject: str) -> dict[str, Any]:
    with _reading(subject):
        values = loads(response.body)
        if not is_object(values) or not values.keys() >= set(names):
            raise ValueError("members are missing")
        return values


def _headers(token: str, body: bytes | None, generation: str | None) -> dict[str, str]:
    headers = {"Authorization": f"Bearer {token}"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    if generation is not None:
        headers[GENERATION_HEADER] = generation
        headers[COMPATIBLE_GENERATION_HEADER] = generation
    return headers


def _parse_claim(response: HttpResponse) -> Claim:
    headers = response.headers
    generation = headers.get(GENERATION_HEADER) or headers.get(COMPATIBLE_GENERATION_HEADER)
    token = headers.get(EXECUTION_TOKEN_HEADER)
    attempt = int(headers.get(ATTEMPT_HEADER) or 1)
    return parse_claim(response.body.decode(), generation, token, attempt)
