"""HTTP requests to the server, each with a timeout, and the classification of responses."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp
from yarl import URL

from windlass._trace import TRACEPARENT_HEADER, current_traceparent
from windlass.worker._api import Refused, Unavailable

# Limits the size of log lines.
MAX_DETAIL = 2000
LARGE_BYTES = 512 * 1024

# Statuses after which a request is repeated, in addition to those from 500.
TEMPORARY = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """Response of the server with any status below 500 that is not temporary."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def refusal(self) -> Refused:
        """The response as an error."""
        return Refused(self.status, self.body[:MAX_DETAIL].decode(errors="replace"))


async def send(
    http: aiohttp.ClientSession,
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    timeout_s: float,
    silence_s: float | None = None,
) -> HttpResponse:
    """Sends one request and returns the response.

    `silence_s` limits each wait for the server; `timeout_s` limits all of it, with the wait for a
    free connection.
    Raises Unavailable for temporary failures: no response, 5xx, 408, 425 or 429.
    """
    timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=silence_s, sock_read=silence_s)
    if traceparent := current_traceparent.get():
        headers = {**headers, TRACEPARENT_HEADER: traceparent}
    target = URL(url, encoded=True)
    for attempt in range(2):
        try:
            async with http.request(
                method, target, headers=headers, data=_payload(body), timeout=timeout
            ) as response:
                content = await response.read()
                if response.status >= 500 or response.status in TEMPORARY:
                    raise Unavailable(f"{method} {target.path} answered {response.status}")
                return HttpResponse(response.status, content, response.headers)
        except (aiohttp.ServerDisconnectedError, ConnectionResetError) as error:
            # The server closed an idle connection at the moment of its reuse. Every request of the
            # protocol is safe to repeat, so it is sent again once, at once.
            if attempt:
                raise Unavailable(f"{method} {target.path}: {error!r}") from error
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise Unavailable(f"{method} {target.path}: {error!r}") from error
    raise AssertionError("unreachable")


def _payload(body: bytes | None) -> bytes | io.BytesIO | None:
    """Returns a stream for large bodies: aiohttp writes it in chunks, so pings are not delayed."""
    return io.BytesIO(body) if body and len(body) > LARGE_BYTES else body


def read_detail(refused: Refused) -> str:
    """Returns the `detail` of the server's refusal, or the whole body if there is none."""
    try:
        detail = json.loads(refused.detail)["detail"]
    except (ValueError, KeyError, TypeError):
        return refused.detail
    return detail if isinstance(detail, str) else json.dumps(detail)
