"""Connect stream: receives the server's frames and reconnects when the stream ends."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator

import aiohttp

from windlass._backoff import backoff
from windlass._sse import Decoder, Frame, FrameTooLarge
from windlass.worker._registration import Registration
from windlass.worker._settings import Settings

log = logging.getLogger("windlass.worker")

FIRST_DELAY_S = 0.5
MAX_DELAY_S = 60.0
# After a stream of at least this length, the backoff starts again with the short delay.
STABLE_STREAM_S = 5.0
CONNECT_TIMEOUT_S = 10.0

# The comment before the end of a stream that another server takes at once.
STOPPING = "stopping"
# A server that stops ends its streams one after another, so workers need not spread their
# reconnects.
HAND_OVER_DELAY_S = 0.1

_UNKNOWN_WORKER = frozenset({401, 403, 404})


class ConnectStream:
    """Endless sequence of frames across reconnects."""

    def __init__(
        self, http: aiohttp.ClientSession, settings: Settings, registration: Registration
    ) -> None:
        self._http = http
        self._settings = settings
        self._registration = registration
        self._url = f"{settings.server_url}{registration.path}/connect"
        self._is_handed_over = False

    async def frames(self) -> AsyncIterator[Frame | None]:
        """Yields frames across reconnects; None stands for an established connection."""
        delays = backoff(FIRST_DELAY_S, MAX_DELAY_S)
        while True:
            started_at = time.monotonic()
            self._is_handed_over = False
            try:
                async for frame in self._stream():
                    yield frame
                reason = "closed by the server"
            except (TimeoutError, aiohttp.ClientError, OSError, FrameTooLarge) as error:
                reason = str(error) or repr(error)
            is_stable = time.monotonic() - started_at > STABLE_STREAM_S
            if is_stable:
                delays = backoff(FIRST_DELAY_S, MAX_DELAY_S)
            # Delayed even after a clean end: when a server restarts, all its workers reconnect.
            is_quick = is_stable and self._is_handed_over
            delay = random.uniform(0, HAND_OVER_DELAY_S) if is_quick else next(delays)
            log.warning("connect stream lost, reconnecting in %.1f s: %s", delay, reason)
            await asyncio.sleep(delay)

    async def _stream(self) -> AsyncIterator[Frame | None]:
        token = self._registration.token
        headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
        # A silent stream counts as lost: TCP does not report a peer that lost its power.
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=self._settings.stream_idle_s
        )
        async with self._http.get(self._url, headers=headers, timeout=timeout) as response:
            if response.status in _UNKNOWN_WORKER:
                await self._registration.renew(token)
                raise aiohttp.ClientError(f"connect answered {response.status}")
            if response.status != 200:
                raise aiohttp.ClientError(f"connect answered {response.status}")
            yield None
            decoder = Decoder()
            async for chunk in response.content.iter_any():
                for frame in decoder.feed(chunk):
                    yield frame
            self._is_handed_over = decoder.comment == STOPPING
