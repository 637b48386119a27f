"""Run of a claimed workflow in the event loop of user code."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from windlass._lifecycle import advance_execution
from windlass._mismatch import CATCH_UP_S
from windlass._parking import WakeCondition, no_run
from windlass._run import Run
from windlass._trace import current_traceparent
from windlass.worker._models import Source
from windlass.worker._modules import Modules

log = logging.getLogger("windlass.worker")


class WorkflowRun:
    """Runs a workflow until it is settled or the run is stopped. Used only in the user's loop."""

    def __init__(
        self, modules: Modules, source: Source, run: Run, on_end: Callable[[], None]
    ) -> None:
        self._modules = modules
        self._source = source
        self._run = run
        self._on_end = on_end
        self._task: asyncio.Task[None] | None = None
        self._entered = False
        self._park_after_s: float | None = None
        self._on_park: Callable[[WakeCondition], None] | None = None
        self._on_waiting: Callable[[], None] | None = None

    def enable_parking(
        self,
        after_s: float,
        on_park: Callable[[WakeCondition], None],
        on_waiting: Callable[[], None],
    ) -> None:
        """Ends the run and calls `on_park` once it only waits. Called before `begin`.

        `on_waiting` is called when `park_early` would end it before.
        """
        if not self._run.is_transient:
            self._park_after_s, self._on_park = after_s, on_park
            self._on_waiting = on_waiting

    def begin(self) -> None:
        """Starts the run."""
        self._task = asyncio.get_running_loop().create_task(self._work())
        if self._park_after_s is not None:
            self._run.parking.enable(self._park_after_s, self._park, self._on_waiting)

    def park_early(self) -> None:
        """Ends the run if it still only waits."""
        self._run.parking.park_early()

    def stop(self, *, closing: bool) -> None:
        """Cancels the workflow, which may clean up; if `closing`, it can record nothing more.

        A second cancel does not interrupt the clean-up of the first one.
        """
        if not closing:
            # If it is due, it follows as soon as the run has come as far as the one before.
            if self._run.is_cancel_due or self._run.is_cancelled:
                return
            self._run.request_cancel()
            # The branches of a body that has ended are cancelled anyway, and may compensate.
            if self._run.is_ending:
                return
        # A task that is cancelled before its first step never runs and could record no outcome.
        if self._task is not None and self._entered:
            self._task.cancel()

    def _cancel_if_caught_up(self) -> None:
        """Cancels a run in place of an earlier one, once it has made the calls of the log.

        Earlier, it would compensate less.
        """
        run = self._run
        if run.is_closed or not run.is_cancel_due:
            return
        if run.guard.is_behind():
            self._look_later()
        else:
            run.is_cancel_due = False
            self.stop(closing=False)

    def _look_later(self) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(CATCH_UP_S, self._cancel_if_caught_up, context=no_run())

    def _park(self, condition: WakeCondition) -> None:
        if self._on_park is not None:
            self._on_park(condition)
        self._run.close()
        self.stop(closing=True)

    async def _work(self) -> None:
        self._entered = True
        if self._run.is_cancel_due and self._run.is_transient:
            # Its tasks are not recorded: nothing shows what a second run would have to undo.
            self._run.request_cancel()
        if self._run.trace is not None:
            current_traceparent.set(self._run.trace.context.traceparent)
        try:
            await advance_execution(self._run, self._body)
        except asyncio.CancelledError:
            pass
        except BaseException:
            log.exception("failed to run execution %s", self._run.context.execution_id)
        finally:
            self._end_capture()
            self._on_end()

    async def _body(self) -> Any:
        if self._run.is_cancelled:
            raise asyncio.CancelledError
        try:
            with self._modules.using(self._source):
                workflow = await self._modules.load_workflow(self._source)
                if self._run.is_cancel_due:
                    self._look_later()
                return await workflow.perform(self._run.context)
        finally:
            # Before the last event, whose checkpoint carries the last lines.
            self._end_capture()

    def _end_capture(self) -> None:
        if self._run.capture is not None:
            self._run.capture.end()
