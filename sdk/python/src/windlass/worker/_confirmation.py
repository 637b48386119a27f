"""Confirmation of a claim: whether the server knows that this worker runs an execution."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from windlass._backoff import backoff
from windlass.worker._api import Api, Refused, Unavailable
from windlass.worker._models import Claim, Delivery

log = logging.getLogger("windlass.worker")

# Part of the claim deadline after which an unconfirmed execution is claimed explicitly.
CLAIM_AFTER = 1 / 3
FIRST_DELAY_S = 0.3
MAX_DELAY_S = 3.0


class Confirmation:
    """Claim of one execution, which its first checkpoint makes if it was delivered with the work.

    Without a delivery it is confirmed from the start. All methods run in the worker's loop.
    """

    def __init__(
        self, api: Api, claim: Claim, delivery: Delivery | None, on_lost: Callable[[], None]
    ) -> None:
        """`on_lost` is called if the server has taken the execution back."""
        self._api = api
        self._claim = claim
        self._delivery = delivery
        self._on_lost = on_lost
        self._is_confirmed = delivery is None
        self._claiming: asyncio.Task[None] | None = None
        self._request: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_confirmed(self) -> bool:
        """True if the server has answered a checkpoint or a claim."""
        return self._is_confirmed

    def start(self) -> None:
        """Claims the execution before its deadline if no checkpoint does."""
        if (delivery := self._delivery) is not None:
            due = delivery.received_at + delivery.timeout_s * CLAIM_AFTER - time.monotonic()
            self._timer = asyncio.get_running_loop().call_later(max(due, 0.0), self._begin_claim)

    def stop(self) -> None:
        """Ends the timer and the claims that are in flight."""
        for work in (self._timer, self._claiming, self._request):
            if work is not None:
                work.cancel()

    def confirm(self) -> None:
        """Is called when the server has answered a checkpoint."""
        self._is_confirmed = True
        if self._timer is not None:
            self._timer.cancel()

    async def require(self) -> None:
        """Returns once the execution is claimed. Raises Refused, if it is lost, or Unavailable."""
        if self._is_confirmed:
            return
        if self._request is None or self._request.done():
            self._request = asyncio.create_task(self.claim())
            # Also if all callers have been cancelled.
            self._request.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._request)

    async def claim(self) -> None:
        """Claims the execution under its generation. Raises Refused or Unavailable."""
        claim = self._claim
        try:
            await self._api.claim(claim.context.execution_id, claim.generation)
        except Refused:
            # A checkpoint in flight may have claimed it and ended it.
            if not self._is_confirmed:
                self._on_lost()
                raise
        self.confirm()

    def _begin_claim(self) -> None:
        self._claiming = asyncio.create_task(self._claim_until_answered())

    async def _claim_until_answered(self) -> None:
        execution_id = self._claim.context.execution_id
        delays = backoff(FIRST_DELAY_S, MAX_DELAY_S)
        while not self._is_confirmed:
            try:
                return await self.require()
            except Refused as refused:
                log.info("failed to claim execution %s: refused: %s", execution_id, refused)
                return None
            except Unavailable as error:
                log.warning("failed to claim execution %s: %s", execution_id, error)
                await asyncio.sleep(next(delays))
        return None
