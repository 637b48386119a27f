"""Registration of the worker and its session token."""

from __future__ import annotations

import asyncio
import json
import logging
from urllib.parse import quote
from uuid import uuid4

import aiohttp

from windlass.worker import _system_info
from windlass.worker._api import Unavailable
from windlass.worker._backoff import backoff
from windlass.worker._http import HttpResponse, send
from windlass.worker._settings import Settings

log = logging.getLogger("windlass.worker")

FIRST_DELAY_S = 1.0
MAX_DELAY_S = 60.0

# Promise to the server: a worker whose stream has closed and that has sent nothing for this long is
# gone. The reconnects of `_connect_stream` start within a second.
RECONNECT_GRACE_S = 5.0

# The name is free again after the server has evicted the worker that used it.
_NAME_IN_USE = frozenset({409})


class Registration:
    """Holds the session token and registers again when the server rejects it."""

    def __init__(self, http: aiohttp.ClientSession, settings: Settings) -> None:
        self._http = http
        self._settings = settings
        self._lock = asyncio.Lock()
        # Distinguishes a registration of the same process, whose executions continue, from one of a
        # restarted process.
        self._instance = uuid4().hex
        self.token = ""
        self.authorizes_tasks = False
        self.path = f"/workers/{quote(settings.name, safe='')}"

    async def register(self) -> None:
        """Registers the worker; retries while the server is unavailable or the name is in use.

        Raises Refused for other refusals, for example of a wrong bootstrap token.
        """
        async with self._lock:
            await self._register(final=True)

    async def renew(self, rejected: str) -> None:
        """Registers again, unless `rejected` has been replaced in the meantime."""
        async with self._lock:
            if self.token == rejected:
                log.warning("session lost, registering again")
                await self._register(final=False)

    async def _register(self, *, final: bool) -> None:
        body = json.dumps(await asyncio.to_thread(self._registration_body)).encode()
        for delay in backoff(FIRST_DELAY_S, MAX_DELAY_S):
            try:
                response = await self._post(body)
                if response.status < 400:
                    session = json.loads(response.body)
                    self.token = session["session_token"]
                    self.authorizes_tasks = bool(session.get("task_authorization"))
                    return
                if final and response.status not in _NAME_IN_USE:
                    raise response.refusal
                reason = str(response.refusal)
            except (Unavailable, ValueError, KeyError, TypeError) as error:
                reason = str(error)
            log.warning("failed to register, retrying in %.1f s: %s", delay, reason)
            await asyncio.sleep(delay)

    async def _post(self, body: bytes) -> HttpResponse:
        headers = {
            "Authorization": f"Bearer {self._settings.bootstrap_token}",
            "Content-Type": "application/json",
        }
        if self.token:
            headers["X-Svc-Session"] = self.token
        url = f"{self._settings.server_url}/workers/register"
        return await send(self._http, "POST", url, headers, body, self._settings.request_timeout_s)

    def _registration_body(self) -> dict[str, object]:
        return {
            "name": self._settings.name,
            "runtime": _system_info.runtime(),
            "packages": _system_info.packages(),
            "resources": _system_info.resources(),
            "labels": dict(self._settings.labels),
            "max_concurrent_executions": self._settings.max_concurrent_executions,
            "runners": ["inprocess"],
            "instance": self._instance,
            "reconnect_grace": RECONNECT_GRACE_S,
        }
