"""Runs one execution in the main thread and ends: `--once ID`, for a debugger.

A debugger stops the main thread, so everything that the server waits for (pongs, claims,
checkpoints) runs in another one: a breakpoint costs no heartbeat. Code runs without children,
without capture of its output and without a second interpreter, so that `breakpoint()`, `python -m
pdb` and debuggers of editors work. The execution is not parked: a sleep is waited for here.

Only the server decides which worker gets an execution. What else it assigns to this worker is
released at once, and the released execution is queued behind the one that is waited for.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType

from windlass.worker._api import Refused, Unavailable
from windlass.worker._bootstrap import TOKEN_VARIABLE
from windlass.worker._delivery import release
from windlass.worker._execution import Execution
from windlass.worker._executions import Executions
from windlass.worker._local_runner import LocalRunner
from windlass.worker._models import Assignment, Source
from windlass.worker._modules import read_text
from windlass.worker._runner import RunnerFailed
from windlass.worker._settings import Settings
from windlass.worker._user_loop import UserLoop
from windlass.worker._worker import Worker
from windlass.worker._worker_context import WorkerContext

log = logging.getLogger("windlass.worker")

# Between two questions for the state of an execution that has not been assigned, in seconds.
FIND_EVERY_S = 5.0

# The server names the state of an execution that it refuses to give to this worker.
_STATE = re.compile(r"current state is ([A-Z_]+)")
_ENDED = frozenset({"COMPLETED", "FAILED", "CANCELLED"})
_QUEUED = frozenset({"CREATED", "RESUMING", "SCHEDULED", "RESUME_SCHEDULED"})

# States in which the run has ended as the code wanted it.
_SETTLED = frozenset({"completed", "failed", "cancelled", "paused"})


def run_once(settings: Settings) -> int:
    """Runs the execution `settings.once`. Returns 0 if it has settled, 1 if not, 2 for misuse."""
    settings = replace(
        settings,
        max_concurrent_executions=1,
        children=0,
        capture_logs=False,
        park_after_s=None,
        drain_timeout_s=0.0,
    )
    os.environ.pop(TOKEN_VARIABLE, None)
    user_loop = UserLoop(in_thread=False)
    worker = SingleWorker(settings, runner=LocalRunner(settings, user_loop))
    thread = threading.Thread(target=worker.run_to_end, args=(user_loop,), daemon=True)
    signals = 0

    def stop(_: int, __: FrameType | None) -> None:
        nonlocal signals
        signals += 1
        if signals > 1:
            log.warning("ending without releasing the execution")
            logging.shutdown()
            os._exit(1)
        worker.stop_soon()

    previous = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        thread.start()
        user_loop.run()
        thread.join()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    if worker.left_code_running:
        # The interpreter would wait for its threads.
        logging.shutdown()
        os._exit(worker.code)
    return worker.code


class SingleWorker(Worker):
    """Worker that ends after its execution."""

    code = 1

    def __init__(self, settings: Settings, runner: LocalRunner) -> None:
        super().__init__(settings, runner=runner)
        self._loop: asyncio.AbstractEventLoop | None = None

    def run_to_end(self, user_loop: UserLoop) -> None:
        """Runs in a thread of its own, and stops the user's loop at its end."""
        try:
            asyncio.run(self._run())
        except Refused as refused:
            log.error("failed to register: refused by the server: %s", refused)
        except RunnerFailed as error:
            print(f"windlass worker: {error}", file=sys.stderr)  # noqa: T201
            self.code = 2
        except Exception:
            log.exception("failed to run the execution")
        finally:
            user_loop.end()

    def stop_soon(self) -> None:
        """Releases the execution and stops. Callable from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.stop)

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self.run()

    def _create_executions(self, context: WorkerContext) -> Executions:
        executions = SingleExecution(context, self._end)
        executions.find()
        return executions

    def _end(self, code: int) -> None:
        self.code = code
        self.stop()


class SingleExecution(Executions):
    """Runs one execution and releases all others. `end` is called with the exit code."""

    def __init__(self, context: WorkerContext, end: Callable[[int], None]) -> None:
        super().__init__(context)
        self._end = end
        self._has_begun = asyncio.Event()
        self.on_end = self._on_end

    def find(self) -> None:
        """Ends the worker if the server has no such execution."""
        self._spawn(self._find())

    def accept(self, assignment: Assignment, is_delayed: bool = False) -> None:
        """Runs the execution, or releases another one."""
        is_wanted = assignment.execution_id == self._settings.once
        if is_wanted:
            self._has_begun.set()
        if is_wanted and self._has_text(assignment.source):
            super().accept(assignment, is_delayed)
            return
        delivery = assignment.delivery
        generation = delivery.claim.generation if delivery else None
        self._spawn(release(self._api, assignment.execution_id, generation))
        if is_wanted:
            self._end(2)

    def _has_text(self, source: Source) -> bool:
        if self._settings.source is None:
            return True
        text = Path(self._settings.source).read_text("utf-8-sig")
        if text.splitlines() == read_text(source).splitlines():
            return True
        log.error(
            "%s differs from version %s of %s/%s, which the execution runs",
            self._settings.source,
            source.version,
            source.namespace,
            source.name,
        )
        return False

    async def _find(self) -> None:
        """Logs what the execution waits for, each time that it changes, until it is assigned."""
        execution_id = str(self._settings.once)
        log.info("waiting for execution %s: it must be queued, or resumed", execution_id)
        told = ""
        while not self._has_begun.is_set():
            state = await self._ask_state(execution_id)
            if self._has_begun.is_set():
                return
            if state in _ENDED:
                message = "execution %s is %s: it has ended and does not run again; start another"
                message += " one, or repeat it with POST /executions/%s/rerun, and pass its id"
                log.error(message, execution_id, state, execution_id)
                self._end(1)
                return
            if state and state != told:
                log.warning("execution %s is %s; %s", execution_id, state, self._advise(state))
                told = state
            with suppress(TimeoutError):
                await asyncio.wait_for(self._has_begun.wait(), FIND_EVERY_S)

    async def _ask_state(self, execution_id: str) -> str:
        """Returns the state, or an empty text if it is not known or the worker has ended."""
        try:
            # The only question for a state that the session of a worker may ask. It is refused
            # unless the execution is assigned to this worker, whose frame is then on its way.
            await self._api.claim(execution_id)
        except Refused as refused:
            if refused.status == 404:
                log.error("the server has no execution %s", execution_id)
                self._has_begun.set()
                self._end(1)
            found = _STATE.search(refused.detail)
            return found[1] if found else ""
        except Unavailable as error:
            log.warning("failed to look for execution %s: %s", execution_id, error)
        return ""

    def _advise(self, state: str) -> str:
        if state == "PAUSED":
            return "waiting until it is resumed"
        if state in _QUEUED:
            path = f"/executions/{self._settings.once}/explain"
            return f"GET {path} says why it is not assigned to this worker"
        return "another worker has it: waiting until that one ends or releases it"

    def _on_end(self, execution: Execution) -> None:
        log.info("execution %s is %s", execution.execution_id, execution.outcome)
        self._end(0 if execution.outcome in _SETTLED else 1)
