"""The executions that a worker holds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from windlass.domain.events import ExecutionEventType as E
from windlass.domain.state import ExecutionState
from windlass.worker._api import Refused, Unavailable
from windlass.worker._backoff import backoff
from windlass.worker._checkpoint import Checkpoints
from windlass.worker._delivery import release
from windlass.worker._execution import Execution
from windlass.worker._models import Assignment, Cancellation, Claim
from windlass.worker._worker_context import WorkerContext

log = logging.getLogger("windlass.worker")

# Within the server's own deadline for a claim.
CLAIM_ATTEMPTS = 4
CLAIM_FIRST_DELAY_S = 0.3
CLAIM_MAX_DELAY_S = 3.0

FAULT_DELAY_S = 5.0

# After this nothing more is said for executions that are given back.
RELEASE_TIMEOUT_S = 10.0


class Executions:
    """Claims, runs, cancels and gives back. Everything here happens in the worker's thread."""

    def __init__(self, worker_context: WorkerContext) -> None:
        self._worker_context = worker_context
        self._api = worker_context.api
        self._settings = worker_context.settings
        self._running: dict[str, Execution] = {}
        # Executions being claimed, and whether somebody asked meanwhile to cancel them.
        self._claiming: dict[str, bool] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_draining = False

    def __len__(self) -> int:
        return len(self._running) + len(self._claiming)

    def accept(self, assignment: Assignment) -> None:
        """Claims and runs an execution, unless this worker is full or about to stop."""
        # The server counts, and hears of an end before this worker hears that it did; hence
        # twice the slots before an execution is turned away.
        if self._is_draining or len(self) >= 2 * max(1, self._settings.max_concurrent_executions):
            self._spawn(release(self._api, assignment.execution_id, None))
        elif assignment.execution_id not in self._claiming:
            # Noted here, not when its task begins: the next frame may be in the same chunk.
            self._claiming[assignment.execution_id] = False
            self._spawn(self._process(assignment))

    def cancel(self, cancellation: Cancellation) -> None:
        """Cancels an execution that is held here, now or in a moment."""
        context = cancellation.context
        if running := self._running.get(context.execution_id):
            running.cancel()
        elif context.execution_id in self._claiming:
            self._claiming[context.execution_id] = True
        elif context.current_worker == self._settings.name:
            self._spawn(self._confirm_cancelled(cancellation))

    async def drain(self, timeout_s: float) -> None:
        """Takes nothing more, waits for what runs, and gives back what does not end in time."""
        self._is_draining = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=timeout_s)
        for execution in list(self._running.values()):
            execution.stop_and_release()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=RELEASE_TIMEOUT_S)

    async def close(self) -> None:
        """Lets go of everything without a word."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("an execution was lost to a fault of the worker", exc_info=error)

    async def _process(self, assignment: Assignment) -> None:
        execution_id = assignment.execution_id
        try:
            claim = await self._claim(execution_id)
        finally:
            cancelled = self._claiming.pop(execution_id)
        if claim is None:
            return
        if running := self._running.get(execution_id):
            if claim.generation in {None, running.generation}:
                return  # the same frame twice
            running.supersede()
        execution = Execution(self._worker_context, assignment, claim)
        self._running[execution_id] = execution
        if cancelled:
            execution.cancel()
        try:
            await execution.run()
        except Exception:
            log.exception("execution %s met a fault of this worker", execution_id)
            # Not at once: whoever takes it next may be this worker.
            await asyncio.sleep(FAULT_DELAY_S)
            await release(self._api, execution_id, claim.generation)
        finally:
            if self._running.get(execution_id) is execution:
                del self._running[execution_id]

    async def _claim(self, execution_id: str) -> Claim | None:
        delays = backoff(CLAIM_FIRST_DELAY_S, CLAIM_MAX_DELAY_S)
        for _ in range(CLAIM_ATTEMPTS):
            try:
                return await self._api.claim(execution_id)
            except Refused as refused:
                log.info("execution %s is not for this worker: %s", execution_id, refused)
                return None
            except Unavailable as error:
                log.warning("claim of execution %s failed: %s", execution_id, error)
                await asyncio.sleep(next(delays))
        # One of the attempts may have been heard, and then the server waits for this worker.
        await release(self._api, execution_id, None)
        return None

    async def _confirm_cancelled(self, cancellation: Cancellation) -> None:
        """Says that an execution has ended which the server believes to be here."""
        context = cancellation.context
        checkpoints = Checkpoints(context, self._settings.name)
        body = checkpoints.ending(E.WORKFLOW_CANCELLED, None, ExecutionState.CANCELLED)
        try:
            await self._api.checkpoint(context.execution_id, body, None)
        except (Refused, Unavailable) as error:
            log.info("execution %s is not here to be cancelled: %s", context.execution_id, error)
