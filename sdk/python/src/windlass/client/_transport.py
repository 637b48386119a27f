"""Requests of the client: one connection pool, retries, typed errors.

A request is repeated, with exponential backoff or as `Retry-After` says, until `retry_for_s` after
the end of the first attempt: after 429, and if no connection was made, always; after 503 unless a
second delivery would do harm (`is_once`: a resume or an upload whose first answer was lost may have
been carried out); after a lost connection or another 5xx only if the request is repeatable.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
from yarl import URL

from windlass._backoff import backoff
from windlass._encryption import require_encryption
from windlass._narrow import is_object
from windlass.client._errors import ClientError, UnavailableError, to_error

FIRST_DELAY_S = 0.1
MAX_DELAY_S = 5.0
RETRY_FOR_S = 30.0
TIMEOUT_S = 30.0

_TEMPORARY = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class TransportOptions:
    """Address, credentials and limits of requests; see `AsyncClient`."""

    base_url: str
    token: str | Callable[[], str] | None = None
    timeout_s: float = TIMEOUT_S
    retry_for_s: float = RETRY_FOR_S
    ca_file: str | None = None
    insecure: bool = False

    def __post_init__(self) -> None:
        require_encryption(self.base_url, is_insecure_allowed=self.insecure or self.token is None)


class Transport:
    """Sends requests over one connection pool, which belongs to one event loop."""

    def __init__(self, options: TransportOptions) -> None:
        self._options = options
        self._base = options.base_url.rstrip("/")
        self._http: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        text: str | None = None,
        headers: Mapping[str, str] | None = None,
        is_repeatable: bool = False,
        is_once: bool = False,
        more_time_s: float = 0.0,
    ) -> Any:
        """Returns the JSON of the answer, or None for an empty one. Raises ClientError.

        `body` is sent as it is (bytes or a form), `text` as JSON. `more_time_s` is added to the
        timeout for requests at which the server waits.
        """
        delays = backoff(FIRST_DELAY_S, MAX_DELAY_S)
        loop = asyncio.get_running_loop()
        until: float | None = None
        while True:
            data = body() if callable(body) else text.encode() if text is not None else None
            try:
                return await self._send(method, path, query, data, headers, more_time_s)
            except _Failed as failed:
                is_safe = is_repeatable or method == "GET" or failed.has_changed_nothing
                is_safe = is_safe or (failed.error.status == 503 and not is_once)
                delay = failed.retry_after_s or next(delays)
                if until is None:
                    # Not from the start of the attempt, which may have taken as long as all others,
                    # or have been answered while the loop was blocked.
                    until = loop.time() + self._options.retry_for_s
                if not (is_safe and failed.is_temporary) or loop.time() + delay > until:
                    raise failed.error from failed.__cause__
            await asyncio.sleep(delay)

    @asynccontextmanager
    async def stream(
        self, path: str, headers: Mapping[str, str]
    ) -> AsyncGenerator[AsyncIterator[bytes], None]:
        """Opens an event stream; yields the iterator of its chunks. Raises ClientError."""
        idle = aiohttp.ClientTimeout(total=None, sock_read=max(60.0, self._options.timeout_s))
        url = URL(f"{self._base}{path}", encoded=True)
        all_headers = {**self._headers(), **headers}
        try:
            async with self._session().get(url, headers=all_headers, timeout=idle) as response:
                if response.status >= 400:
                    detail = _read_detail(await response.read())
                    raise to_error("GET", path, response.status, detail)
                yield response.content.iter_any()
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise UnavailableError(f"the event stream {path} was interrupted: {error!r}") from error

    async def close(self) -> None:
        """Closes all connections."""
        http, self._http = self._http, None
        if http is not None:
            await http.close()

    async def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        body: Any,
        headers: Mapping[str, str] | None,
        more_time_s: float,
    ) -> Any:
        params = {name: _to_param(value) for name, value in (query or {}).items()}
        url = URL(f"{self._base}{path}", encoded=True).update_query(params)
        timeout = aiohttp.ClientTimeout(total=self._options.timeout_s + more_time_s)
        all_headers = {**self._headers(), **(headers or {})}
        if isinstance(body, bytes):
            all_headers["Content-Type"] = "application/json"
        try:
            async with self._session().request(
                method, url, data=body, headers=all_headers, timeout=timeout
            ) as response:
                content = await response.read()
        except aiohttp.ClientConnectorError as error:
            raise _Failed(_no_answer(method, path, error), has_changed_nothing=True) from error
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise _Failed(_no_answer(method, path, error)) from error
        if response.status >= 400:
            raise _Failed(
                to_error(method, path, response.status, _read_detail(content)),
                has_changed_nothing=response.status == 429,
                retry_after_s=_read_retry_after(response.headers),
            )
        return _parse(method, path, content)

    def _headers(self) -> dict[str, str]:
        token = self._options.token
        if token is None:
            return {}
        return {"Authorization": f"Bearer {token() if callable(token) else token}"}

    def _session(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if self._http is None:
            context: ssl.SSLContext | bool = True
            if self._options.ca_file is not None:
                context = ssl.create_default_context(cafile=self._options.ca_file)
            self._http = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context))
            self._loop = loop
        elif self._loop is not loop:
            raise RuntimeError(
                "an AsyncClient belongs to the event loop of its first request; "
                "create one in each loop, or use Client"
            )
        return self._http


class _Failed(Exception):
    def __init__(
        self, error: ClientError, *, has_changed_nothing: bool = False, retry_after_s: float = 0.0
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.has_changed_nothing = has_changed_nothing
        self.retry_after_s = retry_after_s

    @property
    def is_temporary(self) -> bool:
        return self.error.status == 0 or self.error.status in _TEMPORARY


def _no_answer(method: str, path: str, error: Exception) -> ClientError:
    return UnavailableError(f"{method} {path} got no answer: {_describe(error)}")


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _parse(method: str, path: str, content: bytes) -> Any:
    if not content:
        return None
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ClientError(f"the answer to {method} {path} is not JSON") from error


def _read_detail(content: bytes) -> Any:
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        return content[:2000].decode(errors="replace")
    return answer.get("detail", answer) if is_object(answer) else answer


def _read_retry_after(headers: Mapping[str, str]) -> float:
    try:
        return max(0.0, float(headers.get("Retry-After", "0")))
    except ValueError:
        return 0.0


def _to_param(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
