"""All claimed executions of a worker."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from windlass._backoff import backoff
from windlass.domain.events import ExecutionEventType as E
from windlass.domain.state import ExecutionState
from windlass.worker._api import Refused, Unavailable
from windlass.worker._checkpoint import Checkpoints
from windlass.worker._delivery import release
from windlass.worker._execution import Execution
from windlass.worker._models import Assignment, Cancellation, Claim
from windlass.worker._worker_context import WorkerContext

log = logging.getLogger("windlass.worker")

# Ends within the server's deadline for a claim.
CLAIM_ATTEMPTS = 4
CLAIM_FIRST_DELAY_S = 0.3
CLAIM_MAX_DELAY_S = 3.0

FAULT_DELAY_S = 5.0

# Limit for sending the entries and releases of executions that did not end in time.
RELEASE_TIMEOUT_S = 10.0


class Executions:
    """Claims, runs, cancels and releases executions. All methods run in the worker's thread."""

    def __init__(self, worker_context: WorkerContext) -> None:
        self._worker_context = worker_context
        self._api = worker_context.api
        self._settings = worker_context.settings
        self._running: dict[str, Execution] = {}
        # Executions being claimed; True if cancellation was requested in the meantime.
        self._claiming: dict[str, bool] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_draining = False

    def __len__(self) -> int:
        return len(self._running) + len(self._claiming)

    def accept(self, assignment: Assignment) -> None:
        """Claims and runs an execution, or releases it if the worker is full or draining."""
        # The server limits the number of executions, but it frees a slot before this worker does.
        # The limit here is therefore twice the number of slots. 0 slots mean no limit.
        limit = 2 * self._settings.max_concurrent_executions
        if self._is_draining or 0 < limit <= len(self):
            self._spawn(release(self._api, assignment.execution_id, None))
        elif assignment.execution_id not in self._claiming:
            # Set before the task starts: the next frame may be in the same chunk.
            self._claiming[assignment.execution_id] = False
            self._spawn(self._process(assignment))

    def cancel(self, cancellation: Cancellation) -> None:
        """Cancels an execution that is claimed here or is being claimed."""
        context = cancellation.context
        if running := self._running.get(context.execution_id):
            running.cancel()
        elif context.execution_id in self._claiming:
            self._claiming[context.execution_id] = True
        elif context.current_worker == self._settings.name:
            self._spawn(self._confirm_cancelled(cancellation))

    async def drain(self, timeout_s: float) -> None:
        """Accepts no more work, waits `timeout_s` for running executions and releases the rest."""
        self._is_draining = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=timeout_s)
        for execution in list(self._running.values()):
            execution.stop_and_release()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=RELEASE_TIMEOUT_S)

    async def close(self) -> None:
        """Cancels all tasks at once, without releasing their executions."""
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
            log.error("failed to process execution", exc_info=error)

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
                return  # a duplicate frame
            running.supersede()
        execution = Execution(self._worker_context, assignment, claim)
        self._running[execution_id] = execution
        if cancelled:
            execution.cancel()
        try:
            await execution.run()
        except Exception:
            log.exception("failed to run execution %s", execution_id)
            # Delayed: the server may assign the execution to this worker again.
            await asyncio.sleep(FAULT_DELAY_S)
            await release(self._api, execution_id, claim.generation)
        finally:
            if self._running.get(execution_id) is execution:
                del self._running[execution_id]
                self._api.forget(execution_id)

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
            await self._api.checkpoint(context.execution_id, body, None)
        except (Refused, Unavailable) as error:
            log.info(
                "failed to confirm cancellation of execution %s: %s", context.execution_id, error
            )
