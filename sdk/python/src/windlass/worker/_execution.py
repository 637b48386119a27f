"""One claimed execution, from its claim to its last checkpoint."""

from __future__ import annotations

import asyncio
import logging
import time

from windlass.domain.events import ExecutionEventType as E
from windlass.domain.state import ExecutionState
from windlass.worker._checkpoint import Checkpoints
from windlass.worker._delivery import Verdict, delivered, release
from windlass.worker._delta import Delta
from windlass.worker._host import Host
from windlass.worker._models import Assignment, Claim
from windlass.worker._outbox import Outbox
from windlass.worker._pass import Pass
from windlass.worker._progress import Progress
from windlass.worker._run_services import RunServices

log = logging.getLogger("windlass.worker")


class Execution:
    """Sends what its run records, one checkpoint after the other.

    Whatever happens, it ends in one of three ways: the server has taken the end of the run; the
    execution belongs to somebody else; or it was given back.
    """

    def __init__(self, host: Host, assignment: Assignment, claim: Claim) -> None:
        loop = asyncio.get_running_loop()
        self.execution_id = claim.context.execution_id
        self.generation = claim.generation
        self._name = (
            f"{self.execution_id} of {assignment.source.namespace}/{assignment.source.name}"
        )
        self._api = host.api
        self._settings = host.settings
        self._checkpoints = Checkpoints(claim.context, host.settings.name)
        self._progress = Progress(loop, host.api, self.execution_id, claim.generation)
        self._outbox = Outbox(loop, host.users.loop)
        services = RunServices(
            loop,
            host.api,
            self._progress,
            self.execution_id,
            claim.exec_token or assignment.exec_token,
        )
        self._pass = Pass(host, assignment, claim, self._outbox, services)
        self._is_lost = False

    async def run(self) -> None:
        """Runs it to its end, or to where somebody else goes on with it."""
        began = time.monotonic()
        self._pass.start()
        verdict = Verdict.DELIVERED
        rested = False
        try:
            while verdict is Verdict.DELIVERED and (delta := await self._outbox.next()):
                verdict = await self._delivered(delta)
                rested = delta.state.is_resting and verdict is Verdict.DELIVERED
                if rested:
                    ms = 1000 * (time.monotonic() - began)
                    log.info("execution %s is %s after %.0f ms", self._name, delta.state, ms)
        finally:
            if not rested:
                self._pass.give_up()
                self._outbox.abandon()
        if not rested and not self._is_lost:
            await self._end(verdict)

    def cancel(self) -> None:
        """Somebody asked for its end."""
        self._pass.cancel()

    def give_back(self) -> None:
        """Stops it; what it recorded is still sent, and then another worker may go on."""
        self._pass.give_up()
        self._outbox.close()

    def lose(self) -> None:
        """Another claim has begun: this one writes nothing any more."""
        self._is_lost = True
        self._pass.give_up()
        self._outbox.abandon()

    async def _delivered(self, delta: Delta) -> Verdict:
        body = self._checkpoints.body(delta)
        deadline_s = None
        if delta.state.is_resting:
            await self._progress.flushed()
            deadline_s = self._settings.terminal_deadline_s
        return await self._posted(body, deadline_s)

    async def _posted(self, body: bytes, deadline_s: float | None) -> Verdict:
        async def post() -> None:
            if not self._is_lost:
                await self._api.checkpoint(self.execution_id, body, self.generation)

        return await delivered(post, f"checkpoint of {self.execution_id}", deadline_s)

    async def _end(self, verdict: Verdict) -> None:
        if verdict is Verdict.GONE:
            return
        if verdict is Verdict.REFUSED:
            # It would be refused to every worker. Ending it here is better than leaving it to
            # look as if it ran.
            reason = "the server refused what the execution recorded; its worker's log says why"
            value = {"type": "CheckpointRefused", "message": reason}
            body = self._checkpoints.ending(E.WORKFLOW_FAILED, value, ExecutionState.FAILED)
            await self._posted(body, self._settings.terminal_deadline_s)
            return
        await release(self._api, self.execution_id, self.generation)
