"""Runs in a thread of the worker's process: `--children 0`, and in its main thread: `--once`."""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
from collections.abc import Callable

from windlass import _capture
from windlass._capture import Capture
from windlass._environment import Environment
from windlass._parking import WakeCondition
from windlass._run import Run
from windlass.interceptors import load_interceptor
from windlass.worker._confine import scrub_environment
from windlass.worker._line_buffer import LineBuffer
from windlass.worker._models import Assignment, Claim
from windlass.worker._modules import Modules
from windlass.worker._outbox import Outbox
from windlass.worker._progress_buffer import ProgressBuffer
from windlass.worker._run_services import RunServices
from windlass.worker._runner import RunnerFailed
from windlass.worker._settings import Settings
from windlass.worker._task_processes import TaskProcesses
from windlass.worker._user_loop import UserLoop
from windlass.worker._workflow_run import WorkflowRun


class LocalRunner:
    """Runner with one event loop in one thread, or in `user_loop`."""

    def __init__(self, settings: Settings, user_loop: UserLoop | None = None) -> None:
        self._settings = settings
        self._user_loop = user_loop or UserLoop()
        self._processes = TaskProcesses(
            settings.task_processes,
            settings.log_level,
            settings.log_format,
            scrub_environment(os.environ, settings.pass_env),
        )
        self._environment = Environment(processes=self._processes)
        self._modules = Modules(file=settings.source)
        self._end_capture: Callable[[], None] | None = None

    @property
    def lag_s(self) -> float:
        """Delay of the last answered probe, in seconds."""
        return self._user_loop.lag_s

    async def start(self) -> None:
        """Imports what is to be preloaded and starts the loop. Raises RunnerFailed."""
        sys.path[:0] = self._settings.path
        for name in self._settings.preload:
            try:
                await asyncio.to_thread(importlib.import_module, name)
            except Exception as error:
                raise RunnerFailed(f"--preload {name}: {error!r}") from error
        try:
            interceptors = [load_interceptor(name) for name in self._settings.interceptors]
        except ValueError as error:
            raise RunnerFailed(str(error)) from error
        self._environment = Environment(processes=self._processes, interceptors=interceptors)
        if self._settings.capture_logs:
            self._end_capture = _capture.install()
        self._user_loop.start()

    def create_run(
        self,
        assignment: Assignment,
        claim: Claim,
        services: RunServices,
        progress: ProgressBuffer,
        lines: LineBuffer | None,
        on_waiting: Callable[[], None],
    ) -> LocalRun:
        """Creates the run of a claimed execution."""
        return LocalRun(
            self._user_loop,
            self._modules,
            self._environment,
            assignment,
            claim,
            services,
            lines,
            on_waiting,
        )

    def probe(self) -> float:
        """Probes the loop; returns for how long an earlier probe is unanswered."""
        return self._user_loop.probe()

    async def stop(self, timeout_s: float) -> bool:
        """Stops the loop. Returns False if user code still occupies one of its threads."""
        if self._end_capture is not None:
            self._end_capture()
        self._processes.close()
        return self._user_loop.stop(timeout_s)


class LocalRun:
    """Run in the user's thread, controlled from the worker's."""

    is_crashed = False
    condition: WakeCondition | None = None

    def __init__(
        self,
        user_loop: UserLoop,
        modules: Modules,
        environment: Environment,
        assignment: Assignment,
        claim: Claim,
        services: RunServices,
        lines: LineBuffer | None,
        on_waiting: Callable[[], None],
    ) -> None:
        self._user_loop = user_loop
        self._worker_loop = asyncio.get_running_loop()
        self._on_waiting = on_waiting
        self.outbox = Outbox(self._worker_loop, user_loop.loop)
        self._run = Run(
            claim.context,
            self.outbox,
            services,
            input_text=claim.input_text,
            resume_text=claim.resume_text,
            transient=assignment.transient,
            version=assignment.source.version,
            environment=environment,
            trace=services.trace,
        )
        if lines is not None:
            self._run.capture = Capture(lines.add)
        self._workflow_run = WorkflowRun(modules, assignment.source, self._run, self.outbox.close)
        if services.park_after_s is not None:
            self._workflow_run.enable_parking(
                services.park_after_s, self._on_park, self._on_waiting_in_user_thread
            )

    def start(self) -> None:
        """Schedules the run in the user's event loop."""
        self._user_loop.call(self._workflow_run.begin)

    def cancel(self) -> None:
        """Cancels the workflow."""
        self._user_loop.call(lambda: self._workflow_run.stop(closing=False))

    def abort(self) -> None:
        """Stops the workflow without recording anything more."""
        self._run.close()
        self._user_loop.call(lambda: self._workflow_run.stop(closing=True))

    def park_early(self) -> None:
        """Parks the run if it still only waits."""
        self._user_loop.call(self._workflow_run.park_early)

    def _on_park(self, condition: WakeCondition) -> None:
        self.condition = condition

    def _on_waiting_in_user_thread(self) -> None:
        self._worker_loop.call_soon_threadsafe(self._on_waiting)
