"""Gets a checkpoint to the server, however long that takes, or finds out that it is in vain."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from enum import Enum, auto

from windlass.worker._api import Api, Refused, Unavailable
from windlass.worker._backoff import backoff

log = logging.getLogger("windlass.worker")

FIRST_DELAY_S = 1.0
MAX_DELAY_S = 30.0
RELEASE_ATTEMPTS = 5
MAX_RELEASE_DELAY_S = 10.0


_INVALID_BODY = frozenset({400, 413, 415, 422})


class DeliveryResult(Enum):
    """What became of a delivery."""

    DELIVERED = auto()
    # The execution is another worker's, or over, or unknown: nothing more is to be said of it.
    NOT_OWNED = auto()
    # It is still here, but the server will not take what it recorded.
    REFUSED = auto()
    TIMED_OUT = auto()


async def deliver(
    post: Callable[[], Awaitable[None]], subject: str, deadline_s: float | None = None
) -> DeliveryResult:
    """Repeats `post` until the server has answered it, or for `deadline_s` at most."""
    started_at = time.monotonic()
    for delay in backoff(FIRST_DELAY_S, MAX_DELAY_S):
        try:
            await post()
            return DeliveryResult.DELIVERED
        except Refused as refused:
            if refused.is_stale:
                log.info("%s: the execution is in other hands by now", subject)
                return DeliveryResult.NOT_OWNED
            log.error("%s was refused: %s", subject, refused)
            return (
                DeliveryResult.REFUSED
                if refused.status in _INVALID_BODY
                else DeliveryResult.NOT_OWNED
            )
        except Unavailable as error:
            if deadline_s is not None and time.monotonic() - started_at + delay > deadline_s:
                log.error("%s: giving up after %.0f s: %s", subject, deadline_s, error)
                return DeliveryResult.TIMED_OUT
            log.warning("%s failed, trying again in %.1f s: %s", subject, delay, error)
            await asyncio.sleep(delay)
    raise AssertionError("unreachable")


async def release(api: Api, execution_id: str, generation: str | None) -> None:
    """Gives an execution back. If it cannot, the server's deadlines will."""
    delays = backoff(FIRST_DELAY_S, MAX_RELEASE_DELAY_S)
    for attempt in range(RELEASE_ATTEMPTS):
        try:
            await api.release(execution_id, generation)
            log.info("released execution %s", execution_id)
            return
        except Refused as refused:
            log.info("execution %s could not be released: %s", execution_id, refused)
            return
        except Unavailable as error:
            log.warning("release of execution %s failed: %s", execution_id, error)
            if attempt + 1 < RELEASE_ATTEMPTS:
                await asyncio.sleep(next(delays))
