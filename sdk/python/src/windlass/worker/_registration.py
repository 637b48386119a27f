"""Registration of the worker and its session token."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

import aiohttp

from windlass._backoff import backoff
from windlass.worker import _system_info
from windlass.worker._api import Unavailable
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
_REJECTED = frozenset({401, 403})


@dataclass(frozen=True, slots=True)
class Session:
    """Result of a registration."""

    token: str
    # Random id of the worker. Distinguishes a registration of the same process, whose executions
    # continue, from one of a restarted process.
    instance: str
    authorizes_tasks: bool = False
    # Additions to the protocol that the server supports.
    features: tuple[str, ...] = ()

    @property
    def can_renew(self) -> bool:
        """True if the session token suffices to register again."""
        return "session_renewal" in self.features


class Registration:
    """Holds the session token and registers again when the server rejects it."""

    def __init__(
        self, http: aiohttp.ClientSession, settings: Settings, session: Session | None = None
    ) -> None:
        self._http = http
        self._settings = settings
        self._lock = asyncio.Lock()
        self.session = session or Session("", uuid4().hex)
        self.path = f"/workers/{quote(settings.name, safe='')}"

    @property
    def token(self) -> str:
        """The session token; empty before the first registration."""
        return self.session.token

    @property
    def authorizes_tasks(self) -> bool:
        """True if the server requires an authorization check before each task."""
        return self.session.authorizes_tasks

    async def register(self) -> None:
        """Registers the worker; retries while the server is unavailable or the name is in use.

        Raises Refused for other refusals, for example of a wrong bootstrap token. Does nothing if
        the worker has been registered by another process.
        """
        async with self._lock:
            if not self.token:
                await self._register(final=True)

    async def renew(self, rejected: str) -> None:
        """Registers again, unless `rejected` has been replaced in the meantime.

        Raises Refused if the session has ended and the worker has no bootstrap token any more.
        """
        async with self._lock:
            if self.token == rejected:
                log.warning("session lost, registering again")
                await self._register(final=False)

    async def _register(self, *, final: bool) -> None:
        body = json.dumps(await asyncio.to_thread(self._registration_body)).encode()
        for delay in backoff(FIRST_DELAY_S, MAX_DELAY_S):
            try:
                credential = await asyncio.to_thread(self._credential)
                response = await self._post(body, credential)
                if response.status < 400:
                    self.session = self._parse_session(response)
                    return
                is_ended = credential == self.token and response.status in _REJECTED
                if is_ended or (final and response.status not in _NAME_IN_USE):
                    raise response.refusal
                reason = str(response.refusal)
            except (Unavailable, ValueError, KeyError, TypeError) as error:
                reason = str(error)
            log.warning("failed to register, retrying in %.1f s: %s", delay, reason)
            await asyncio.sleep(delay)

    def _credential(self) -> str:
        """The bootstrap token, from its file if there is one, else the session token."""
        if self._settings.bootstrap_token:
            return self._settings.bootstrap_token
        if self._settings.bootstrap_token_file:
            with contextlib.suppress(OSError):
                return Path(self._settings.bootstrap_token_file).read_text().strip()
        return self.token

    def _parse_session(self, response: HttpResponse) -> Session:
        members = json.loads(response.body)
        return Session(
            members["session_token"],
            self.session.instance,
            bool(members.get("task_authorization")),
            tuple(members.get("features") or ()),
        )

    async def _post(self, body: bytes, credential: str) -> HttpResponse:
        headers = {
            "Authorization": f"Bearer {credential}",
            "Content-Type": "application/json",
        }
        if self.token and credential != self.token:
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
            "runners": ["inprocess", "subprocess"] if self._settings.children else ["inprocess"],
            "instance": self.session.instance,
            "reconnect_grace": RECONNECT_GRACE_S,
            "features": ["claim_by_delivery", "keep_workflows", "continue_cancelled"],
        }
