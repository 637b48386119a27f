"""Run of a workflow in the user's event loop, controlled from the worker's thread."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from windlass._lifecycle import advance_execution
from windlass._run import Run
from windlass._services import Services
from windlass.worker._models import Assignment, Claim
from windlass.worker._outbox import Outbox
from windlass.worker._worker_context import WorkerContext

log = logging.getLogger("windlass.worker")


class WorkflowRun:
    """Runs a claimed workflow until it is settled or the run is aborted."""

    def __init__(
        self,
        worker_context: WorkerContext,
        assignment: Assignment,
        claim: Claim,
        outbox: Outbox,
        services: Services,
    ) -> None:
        self._user_loop = worker_context.user_loop
        self._modules = worker_context.modules
        self._source = assignment.source
        self._outbox = outbox
        self._run = Run(
            claim.context,
            outbox,
            services,
            input_text=claim.input_text,
            resume_text=claim.resume_text,
            transient=assignment.transient,
            version=assignment.source.version,
        )
        self._task: asyncio.Task[None] | None = None
        self._entered = False

    def start(self) -> None:
        """Schedules the run in the user's event loop."""
        self._user_loop.call(self._begin)

    def cancel(self) -> None:
        """Cancels the workflow. It may clean up or even complete before it ends."""
        self._user_loop.call(self._stop, False)

    def abort(self) -> None:
        """Stops the workflow without recording anything more."""
        self._run.close()
        self._user_loop.call(self._stop, True)

    def _begin(self) -> None:
        self._task = self._user_loop.loop.create_task(self._work())

    def _stop(self, closing: bool) -> None:
        if not closing:
            self._run.request_cancel()
        # A task that is cancelled before its first step never runs and could record no outcome.
        if self._task is not None and self._entered:
            self._task.cancel()

    async def _work(self) -> None:
        self._entered = True
        try:
            await advance_execution(self._run, self._body)
        except asyncio.CancelledError:
            pass
        except BaseException:
            log.exception("failed to run execution %s", self._run.context.execution_id)
        finally:
            self._outbox.close()

    async def _body(self) -> Any:
        if self._run.is_cancelled:
            raise asyncio.CancelledError
        workflow = await self._modules.load_workflow(self._source)
        return await workflow.perform(self._run.context)
