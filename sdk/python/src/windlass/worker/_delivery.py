"""Delivery of checkpoints and releases: retries until the server answers or a deadline passes."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from itertools import count

from windlass._backoff import backoff
from windlass._parking import WakeCondition
from windlass.worker._api import Api, Refused, Unavailable

log = logging.getLogger("windlass.worker")

FIRST_DELAY_S = 1.0
MAX_DELAY_S = 30.0
RELEASE_ATTEMPTS = 5
MAX_RELEASE_DELAY_S = 10.0


_INVALID_BODY = frozenset({400, 413, 415, 422})


class DeliveryResult(Enum):
    """Result of a delivery."""

    DELIVERED = auto()
    # The execution belongs to another worker, has ended or is unknown: nothing more is sent.
    NOT_OWNED = auto()
    # The execution is still claimed here, but the server rejects the body.
    REFUSED = auto()
    TIMED_OUT = auto()


async def deliver(
    post: Callable[[], Awaitable[None]], subject: str, deadline_s: float | None = None
) -> DeliveryResult:
    """Repeats `post` until the server answers, at most for `deadline_s` seconds if given."""
    started_at = time.monotonic()
    for delay in backoff(FIRST_DELAY_S, MAX_DELAY_S):
        try:
            await post()
            return DeliveryResult.DELIVERED
        except Refused as refused:
            if refused.is_stale:
                log.info("failed to deliver %s: the execution belongs to another claim", subject)
                return DeliveryResult.NOT_OWNED
            log.error("failed to deliver %s: refused: %s", subject, refused)
            return (
                DeliveryResult.REFUSED
                if refused.status in _INVALID_BODY
                else DeliveryResult.NOT_OWNED
            )
        except Unavailable as error:
            if deadline_s is not None and time.monotonic() - started_at + delay > deadline_s:
                log.error("failed to deliver %s within %.0f s: %s", subject, deadline_s, error)
                return DeliveryResult.TIMED_OUT
            log.warning("failed to deliver %s, retrying in %.1f s: %s", subject, delay, error)
            await asyncio.sleep(delay)
    raise AssertionError("unreachable")


async def release(
    api: Api,
    execution_id: str,
    generation: str | None,
    *,
    crashed: bool = False,
    condition: WakeCondition | None = None,
) -> None:
    """Releases an execution.

    With a generation, repeats the request until the server answers: otherwise the server would wait
    for this worker as long as it lives. Without one, gives up after some attempts, since a late
    release could end a newer claim; then the deadline of the lease or unconfirmed claim applies.

    `crashed`: the process that ran it has ended, which the server counts as an attempt.
    `condition`: it is parked until the condition is met; if the server refuses that, it is queued.
    """
    delays = backoff(FIRST_DELAY_S, MAX_RELEASE_DELAY_S)
    for attempt in count(1):
        try:
            await api.release(execution_id, generation, crashed=crashed, condition=condition)
            log.info("%s execution %s", "parked" if condition else "released", execution_id)
            return
        except Refused as refused:
            if condition is not None and refused.status in _INVALID_BODY:
                log.error("failed to park execution %s: refused: %s", execution_id, refused)
                condition = None
                continue
            log.info("failed to release execution %s: refused: %s", execution_id, refused)
            return
        except Unavailable as error:
            log.warning("failed to release execution %s: %s", execution_id, error)
            if generation is None and attempt == RELEASE_ATTEMPTS:
                return
            await asyncio.sleep(next(delays))
