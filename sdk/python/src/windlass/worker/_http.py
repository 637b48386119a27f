"""Requests to the server, each with a deadline, and what their answers mean."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp
from yarl import URL

from windlass.worker._api import Refused, Unavailable

# Longer than any detail that is worth a log line.
MAX_DETAIL = 2000
LARGE_BYTES = 512 * 1024

_TEMPORARY = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """What came back, whatever its status."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def refusal(self) -> Refused:
        """The answer as an error."""
        return Refused(self.status, self.body[:MAX_DETAIL].decode(errors="replace"))


async def send(
    http: aiohttp.ClientSession,
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    timeout_s: float,
) -> HttpResponse:
    """One request. Raises Unavailable if there is no answer, or none that can be final."""
    timeout = aiohttp.ClientTimeout(total=timeout_s)
    target = URL(url, encoded=True)
    for attempt in range(2):
        try:
            async with http.request(
                method, target, headers=headers, data=_payload(body), timeout=timeout
            ) as response:
                content = await response.read()
                if response.status >= 500 or response.status in _TEMPORARY:
                    raise Unavailable(f"{method} {target.path} answered {response.status}")
                return HttpResponse(response.status, content, response.headers)
        except (aiohttp.ServerDisconnectedError, ConnectionResetError) as error:
            # The server closed an idle connection just when it was used again. Every request
            # of the protocol may be repeated, so it is: at once, and once.
            if attempt:
                raise Unavailable(f"{method} {target.path}: {error!r}") from error
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise Unavailable(f"{method} {target.path}: {error!r}") from error
    raise AssertionError("unreachable")


def _payload(body: bytes | None) -> bytes | io.BytesIO | None:
    """Large bodies are written piece by piece, so that pings are answered meanwhile."""
    return io.BytesIO(body) if body and len(body) > LARGE_BYTES else body


def read_detail(refused: Refused) -> str:
    """The server's own words for a refusal."""
    try:
        detail = json.loads(refused.detail)["detail"]
    except (ValueError, KeyError, TypeError):
        return refused.detail
    return detail if isinstance(detail, str) else json.dumps(detail)
