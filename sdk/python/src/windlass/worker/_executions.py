"""All claimed executions of a worker."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from windlass._backoff import backoff
from windlass.domain.events import ExecutionEventType as E
from windlass.domain.state import ExecutionState
from windlass.errors import PayloadCodecError
from windlass.worker._api import Refused, Unavailable
from windlass.worker._checkpoint import Checkpoints
from windlass.worker._codec import decode_claim, refuse_claim
from windlass.worker._delivery import deliver, release
from windlass.worker._execution import Execution
from windlass.worker._models import Assignment, Cancellation, Claim, Delivery
from windlass.worker._statistics import RunEnd, Statistics
from windlass.worker._suspension import SuspensionWatch
from windlass.worker._worker_context import WorkerContext

log = logging.getLogger("windlass.worker")

# Ends within the server's deadline for a claim.
CLAIM_ATTEMPTS = 4
CLAIM_FIRST_DELAY_S = 0.3
CLAIM_MAX_DELAY_S = 3.0

FAULT_DELAY_S = 5.0

# A repeated frame follows within the claim deadline.
MAX_KNOWN_GENERATIONS = 4096

# Limit for sending the entries and releases of executions that did not end in time.
RELEASE_TIMEOUT_S = 10.0


class Executions:
    """Claims, runs, cancels and releases executions. All methods run in the worker's thread."""

    def __init__(self, worker_context: WorkerContext) -> None:
        self._worker_context = worker_context
        self._api = worker_context.api
        self._settings = worker_context.settings
        self._running: dict[str, Execution] = {}
        # Executions being claimed, each with the cancellation of its latest claim that came in the
        # meantime.
        self._claiming: dict[str, Cancellation | None] = {}
        # Executions that only wait and have not been parked.
        self._waiting: set[Execution] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_draining = False
        # Highest claim generation of executions that were received lately.
        self._generations: OrderedDict[str, int] = OrderedDict()
        # Highest claim generation that ended here without a settled state.
        self._given_back: OrderedDict[str, int] = OrderedDict()
        self._suspensions = SuspensionWatch()
        self.statistics = Statistics()
        # Is called after each run.
        self.on_end: Callable[[Execution], None] | None = None

    def __len__(self) -> int:
        return len(self._running) + len(self._claiming)

    def accept(self, assignment: Assignment, is_delayed: bool = False) -> None:
        """Claims and runs an execution, or releases it if the worker is full or draining.

        `is_delayed`: its frame may be old.
        """
        delivery = assignment.delivery
        if delivery is not None and self._is_repeated(delivery.claim):
            return
        # The server limits the number of executions, but it frees a slot before this worker does.
        # The limit here is therefore twice the number of slots. 0 slots mean no limit.
        limit = 2 * self._settings.max_concurrent_executions
        if self._is_draining or 0 < limit <= len(self):
            generation = delivery.claim.generation if delivery else None
            self._spawn(release(self._api, assignment.execution_id, generation))
        elif assignment.execution_id not in self._claiming:
            # Set before the task starts: the next frame may be in the same chunk.
            self._claiming[assignment.execution_id] = None
            self._spawn(self._process(assignment, is_delayed))
            self._park_if_full()

    def cancel(self, cancellation: Cancellation) -> None:
        """Cancels an execution that is claimed here or is being claimed.

        One that is neither is confirmed as cancelled, unless this worker gives it back: another run
        may have to compensate what it did. Only the claim that the server names is cancelled: a run
        of an earlier one is stopped, and one of a later one knows of the cancel from its log.
        """
        context = cancellation.context
        execution_id = context.execution_id
        running = self._running.get(execution_id)
        if running is not None:
            distance = cancellation.distance_from(running.generation)
            if distance == 0:
                running.cancel()
            if distance <= 0:
                return
            # The server accepts nothing more of this run.
            running.supersede()
        if execution_id in self._claiming:
            known = self._claiming[execution_id]
            if known is None or cancellation.distance_from(known.generation) >= 0:
                self._claiming[execution_id] = cancellation
        elif context.current_worker == self._settings.name:
            generation = (
                sys.maxsize if cancellation.generation is None else int(cancellation.generation)
            )
            if self._given_back.get(execution_id, -1) == generation:
                return
            # Its dispatch may follow.
            _remember(self._generations, execution_id, generation)
            self._spawn(self._confirm_cancelled(cancellation))

    async def drain(self, timeout_s: float) -> None:
        """Accepts no more work, waits `timeout_s` for running executions and releases the rest."""
        self._is_draining = True
        self._park_if_full()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=timeout_s)
        for execution in list(self._running.values()):
            execution.stop_and_release()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=RELEASE_TIMEOUT_S)

    async def close(self) -> None:
        """Cancels all tasks at once, without releasing their executions."""
        self._suspensions.stop()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _on_waiting(self, execution: Execution) -> None:
        if self._running.get(execution.execution_id) is execution:
            self._waiting.add(execution)
            self._park_if_full()

    def _park_if_full(self) -> None:
        """Without a free slot, or while draining, parks all executions that only wait.

        All of them: only the server knows how many of the slots queued work could use.
        """
        slots = self._settings.max_concurrent_executions
        if self._is_draining or 0 < slots <= len(self):
            waiting, self._waiting = self._waiting, set()
            for execution in waiting:
                execution.park_early()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("failed to process execution", exc_info=error)

    async def _process(self, assignment: Assignment, is_delayed: bool) -> None:
        execution_id = assignment.execution_id
        try:
            claim = await self._obtain_claim(assignment, is_delayed)
        finally:
            cancelled = self._claiming.pop(execution_id)
        if claim is None:
            return
        if running := self._running.get(execution_id):
            if claim.generation in {None, running.generation}:
                return  # a duplicate frame
            running.supersede()
        if claim.generation is not None:
            _remember(self._generations, execution_id, int(claim.generation))
        execution = Execution(self._worker_context, assignment, claim, self._on_waiting)
        self._running[execution_id] = execution
        if cancelled is not None and cancelled.distance_from(claim.generation) >= 0:
            execution.cancel()
        source = assignment.source
        self.statistics.record_start((source.id, source.version))
        started_at = time.monotonic()
        try:
            await execution.run()
        except Exception:
            log.exception("failed to run execution %s", execution_id)
            # Delayed: the server may assign the execution to this worker again.
            await asyncio.sleep(FAULT_DELAY_S)
            await release(self._api, execution_id, claim.generation)
        finally:
            duration_s = time.monotonic() - started_at
            self.statistics.record_end(RunEnd(execution.outcome, duration_s, execution.startup_s))
            self._waiting.discard(execution)
            if claim.generation is not None and not execution.is_settled:
                _remember(self._given_back, execution_id, int(claim.generation))
            if self._running.get(execution_id) is execution:
                del self._running[execution_id]
                self._api.forget(execution_id)
            if self.on_end is not None:
                self.on_end(execution)

    async def _decode(self, assignment: Assignment, claim: Claim) -> Claim | None:
        """Returns the claim with decoded values.

        An execution whose values cannot be decoded here is paused; a transient one fails.
        """
        try:
            return await decode_claim(self._worker_context.payloads, claim)
        except PayloadCodecError as problem:
            error = problem
        execution_id = claim.context.execution_id
        log.error("execution %s cannot run here: %s", execution_id, error)
        self._api.adopt(claim)
        body = refuse_claim(claim, error, self._settings.name, transient=assignment.transient)
        delivery = partial(self._api.checkpoint, execution_id, body, claim.generation)
        await deliver(delivery, f"checkpoint of {execution_id}", self._settings.terminal_deadline_s)
        self._api.forget(execution_id)
        return None

    async def _obtain_claim(self, assignment: Assignment, is_delayed: bool) -> Claim | None:
        """Returns the claim with decoded values, or None if the execution does not run here."""
        delivery = assignment.delivery
        # The age of a frame that waited in a socket is not known: its work may be elsewhere by now.
        if delivery is not None and not is_delayed and not self._suspensions.may_be_late:
            # Before the age is read: the codec may wait for a key.
            decoded = await self._decode(assignment, delivery.claim)
            if decoded is None:
                return None
            if not self._suspensions.may_be_late:
                return self._begin_in_time(delivery, decoded)
        claim = await self._claim(assignment.execution_id)
        return None if claim is None else await self._decode(assignment, claim)

    def _begin_in_time(self, delivery: Delivery, decoded: Claim) -> Claim | None:
        execution_id = decoded.context.execution_id
        if time.monotonic() - delivery.received_at > delivery.timeout_s:
            log.warning("execution %s was not begun in time", execution_id)
            return None
        self._api.adopt(decoded)
        return decoded

    def _is_repeated(self, claim: Claim) -> bool:
        """True if this claim, or a later one of its execution, was received before."""
        known = self._generations.get(claim.context.execution_id)
        return known is not None and int(claim.generation or 0) <= known

    async def _claim(self, execution_id: str) -> Claim | None:
        delays = backoff(CLAIM_FIRST_DELAY_S, CLAIM_MAX_DELAY_S)
        for _ in range(CLAIM_ATTEMPTS):
            try:
                return await self._api.claim(execution_id)
            except Refused as refused:
                log.info("failed to claim execution %s: refused: %s", execution_id, refused)
                return None
            except Unavailable as error:
                log.warning("failed to claim execution %s: %s", execution_id, error)
                await asyncio.sleep(next(delays))
        # The server may have accepted one of the attempts and would wait for this worker.
        await release(self._api, execution_id, None)
        return None

    async def _confirm_cancelled(self, cancellation: Cancellation) -> None:
        """Confirms the cancellation of an execution that this worker no longer runs."""
        context = cancellation.context
        checkpoints = Checkpoints(context, self._settings.name)
        body = checkpoints.build_terminal(E.WORKFLOW_CANCELLED, None, ExecutionState.CANCELLED)
        try:
            await self._api.checkpoint(context.execution_id, body, cancellation.generation)
        except (Refused, Unavailable) as error:
            log.info(
                "failed to confirm cancellation of execution %s: %s", context.execution_id, error
            )


def _remember(generations: OrderedDict[str, int], execution_id: str, generation: int) -> None:
    generations[execution_id] = max(generation, generations.get(execution_id, -1))
    generations.move_to_end(execution_id)
    if len(generations) > MAX_KNOWN_GENERATIONS:
        generations.popitem(last=False)
