"""One claimed execution, from its claim to its last checkpoint."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from windlass._trace import Attributes, current_traceparent
from windlass.domain.events import ExecutionEventType as E
from windlass.domain.state import ExecutionState
from windlass.worker._api import Refused
from windlass.worker._checkpoint import Checkpoints
from windlass.worker._codec import encode_delta
from windlass.worker._confirmation import Confirmation
from windlass.worker._delivery import DeliveryResult, deliver, release
from windlass.worker._delta import MAX_DELTA_BYTES, Delta
from windlass.worker._line_buffer import LineBuffer
from windlass.worker._models import Assignment, Claim
from windlass.worker._progress_buffer import ProgressBuffer
from windlass.worker._run_services import RunServices
from windlass.worker._tracing import RunSpan
from windlass.worker._worker_context import WorkerContext

log = logging.getLogger("windlass.worker")


class Superseded(Exception):
    """A later claim exists, so nothing is sent under this one."""


class Execution:
    """Runs a claimed execution and sends its entries, one checkpoint at a time.

    It ends in one of three ways: the server accepted the settled state, the execution belongs to
    another worker, or this worker released it.
    """

    def __init__(
        self,
        worker_context: WorkerContext,
        assignment: Assignment,
        claim: Claim,
        on_waiting: Callable[[Execution], None],
    ) -> None:
        """`on_waiting` is called when `park_early` would park the execution."""
        loop = asyncio.get_running_loop()
        self.execution_id = claim.context.execution_id
        self.generation = claim.generation
        self._name = (
            f"{self.execution_id} of {assignment.source.namespace}/{assignment.source.name}"
        )
        self._api = worker_context.api
        self._settings = worker_context.settings
        self._checkpoints = Checkpoints(claim.context, worker_context.settings.name)
        self._payloads = payloads = worker_context.payloads
        self._progress = ProgressBuffer(
            loop,
            worker_context.api,
            self.execution_id,
            claim.generation,
            payloads.wrap_progress,
        )
        self._lines = None
        if worker_context.api.stores_lines:
            self._lines = LineBuffer(
                loop,
                worker_context.api,
                self.execution_id,
                claim.generation,
                payloads.wrap_line,
            )
        self._confirmation = Confirmation(
            worker_context.api, claim, assignment.delivery, self.supersede
        )
        self._span = begin_run(worker_context, assignment, self.execution_id)
        services = RunServices(
            loop,
            worker_context.api,
            self._progress,
            self.execution_id,
            claim.exec_token or assignment.exec_token,
            self._confirmation,
            self._span.trace if self._span else None,
            payloads,
        )
        self._run = worker_context.runner.create_run(
            assignment, claim, services, self._progress, self._lines, lambda: on_waiting(self)
        )
        self._outbox = self._run.outbox
        self._is_lost = False
        self._settled_as: str | None = None
        # From the start of the run to its first event, in seconds.
        self.startup_s: float | None = None

    @property
    def is_settled(self) -> bool:
        """True if the server has stored the settled state."""
        return self._settled_as is not None

    @property
    def outcome(self) -> str:
        """The state in which it settled, in lower case, else `crashed` or `released`."""
        if self._settled_as is not None:
            return self._settled_as
        return "crashed" if self._run.is_crashed else "released"

    async def run(self) -> None:
        """Runs the execution until it is settled, released or no longer claimed here."""
        if self._span is not None and self._span.trace is not None:
            current_traceparent.set(self._span.trace.context.traceparent)
        try:
            await self._run_to_end()
        finally:
            if self._span is not None and self._span.trace is not None:
                self._span.end("superseded" if self._is_lost else self.outcome)
            if self._lines is not None:
                self._lines.close()

    async def _run_to_end(self) -> None:
        started_at = time.monotonic()
        self._confirmation.start()
        self._run.start()
        result = DeliveryResult.DELIVERED
        is_settled = False
        try:
            while result is DeliveryResult.DELIVERED and (delta := await self._outbox.next()):
                if self.startup_s is None:
                    self.startup_s = time.monotonic() - started_at
                result = await self._deliver_delta(delta)
                is_settled = delta.state.is_resting and result is DeliveryResult.DELIVERED
                if is_settled:
                    self._settled_as = delta.state.value.lower()
                    ms = 1000 * (time.monotonic() - started_at)
                    log.debug("execution %s is %s after %.0f ms", self._name, delta.state, ms)
        finally:
            if not is_settled:
                self._run.abort()
                self._outbox.abandon()
            self._confirmation.stop()
        if not is_settled and not self._is_lost:
            await self._end_unsettled(result)

    def cancel(self) -> None:
        """Cancels the workflow on request of the server."""
        self._run.cancel()

    def park_early(self) -> None:
        """Parks the execution if it still only waits."""
        self._run.park_early()

    def stop_and_release(self) -> None:
        """Stops the run. The remaining entries are still sent; then the execution is released."""
        self._run.abort()
        self._outbox.close()

    def supersede(self) -> None:
        """Stops the run because a newer claim exists. Nothing more is sent under this one."""
        self._is_lost = True
        self._run.abort()
        self._outbox.abandon()

    async def _deliver_delta(self, delta: Delta) -> DeliveryResult:
        deadline_s = lines = None
        if delta.state.is_resting:
            await self._progress.flush()
            lines = await self._take_lines(delta)
            deadline_s = self._settings.terminal_deadline_s
        encoded = await encode_delta(self._payloads, delta)
        body = self._checkpoints.build(encoded, lines)
        result = await self._post_checkpoint(body, deadline_s)
        if result is DeliveryResult.DELIVERED:
            self._outbox.on_stored(len(delta.events))
        return result

    async def _take_lines(self, delta: Delta) -> str | None:
        """Returns lines that the last checkpoint may carry; all others are stored."""
        fits = sum(map(len, delta.events)) <= MAX_DELTA_BYTES
        if self._lines is not None and self._api.stores_lines_of_checkpoints and fits:
            return await self._lines.take_rest()
        await self._flush_lines()
        return None

    async def _flush_lines(self) -> None:
        # While the execution is held: afterwards the server accepts none of its lines.
        if self._lines is not None:
            await self._lines.flush()

    async def _post_checkpoint(self, body: bytes, deadline_s: float | None) -> DeliveryResult:
        async def post() -> None:
            if self._is_lost:
                raise Superseded
            await self._checkpoint(body)

        try:
            return await deliver(post, f"checkpoint of {self.execution_id}", deadline_s)
        except Superseded:
            return DeliveryResult.NOT_OWNED

    async def _checkpoint(self, body: bytes) -> None:
        try:
            await self._api.checkpoint(self.execution_id, body, self.generation)
        except Refused as refused:
            if self._confirmation.is_confirmed or not refused.is_stale:
                raise
            # A replica of an earlier release does not take a checkpoint for a claim.
            await self._confirmation.claim()
            await self._api.checkpoint(self.execution_id, body, self.generation)
        self._confirmation.confirm()

    async def _end_unsettled(self, result: DeliveryResult) -> None:
        if result is DeliveryResult.NOT_OWNED:
            return
        await self._flush_lines()
        if result is DeliveryResult.REFUSED:
            # The server would reject these entries from any worker. Failing the execution now is
            # better than leaving it in the state RUNNING.
            reason = "the server refused a checkpoint of the execution; see the log of its worker"
            value = {"type": "CheckpointRefused", "message": reason}
            body = self._checkpoints.build_terminal(E.WORKFLOW_FAILED, value, ExecutionState.FAILED)
            end = await self._post_checkpoint(body, self._settings.terminal_deadline_s)
            if end is not DeliveryResult.TIMED_OUT:
                return
        run = self._run
        condition = run.condition if result is DeliveryResult.DELIVERED else None
        await release(
            self._api,
            self.execution_id,
            self.generation,
            crashed=run.is_crashed,
            condition=condition,
        )


def begin_run(
    worker_context: WorkerContext, assignment: Assignment, execution_id: str
) -> RunSpan | None:
    """Starts the span of a run, if this worker exports spans."""
    if worker_context.tracing is None:
        return None
    source = assignment.source
    attributes: Attributes = {
        "windlass.execution_id": execution_id,
        "windlass.workflow": f"{source.namespace}/{source.name}",
        "windlass.workflow_version": source.version,
        "windlass.worker": worker_context.settings.name,
    }
    name = f"run {source.namespace}/{source.name}"
    return worker_context.tracing.begin_run(assignment.traceparent, name, attributes)
