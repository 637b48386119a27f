"""Child pool: runs workflows in processes, so that none of them can take the worker down.

The problem
-----------
A worker runs code that others have written. That code blocks its event loop, holds the interpreter
for seconds, fills the memory, calls `os._exit`, or crashes in an extension. In the worker's own
process each of these ends heartbeats, claims and checkpoints of every execution, and the code can
read the worker's session token in memory.

Processes
---------
    server  <-- HTTP -->  worker  <-- socket pair -->  child 1     many executions, one event loop
                            |     <-- socket pair -->  child 2
                            |     <-- socket pair -->  child 3     one execution alone
                            |                             ^
                            +------ requests ------->  zygote -- fork

The worker speaks the protocol: it holds the tokens, claims, makes checkpoints from the entries that
children send, retries, and answers pings. It runs no code of workflows. The zygote is a second
interpreter with a scrubbed environment that has imported the SDK and `--preload`; it forks
children, which takes milliseconds and shares the memory of the imports (`_zygote`). A child runs
the workflows (`_child`). Its connection to the worker is one end of a socket pair that exists
before the child does, so the first frames wait in the kernel until it reads them.

Frames
------
Length (4 bytes), kind (1), number of the execution in the worker (4), payload (`_frames`).

    RUN        source and claim ------------->
               <-------------  ENTRY        one entry of the log, with the state after it
               <-------------  PROGRESS     dropped beyond a limit, as over HTTP
               <-------------  CALL         secrets, configs, permission, approval, nested run
    ANSWER     result or error -------------->
    TAKEN      n entries are in checkpoints ->      the run waits while 10,000 are not
    CANCEL, ABORT --------------------------->
               <-------------  WAITING      the run only waits
    PARK_EARLY ------------------------------>      no slot is free: it parks if it still waits
               <-------------  PARK         its condition; the end follows
               <-------------  END          the run has ended; its entries came before
    PROBE ----------------------------------->
               <-------------  PROBED       the loop of this child is not blocked

A child writes an entry to the socket when it is recorded, not at the end of a turn of its loop:
what was recorded survives a crash in the next line, and blocking code delays no checkpoint.

The worker trusts no frame. Payloads are JSON or text, never pickles; a frame names an execution of
that child only, and the worker adds id, generation and credential of that execution itself. A child
that sends anything else is ended.

Ends of a child
---------------
- It ends (`os._exit`, a signal, a crash): the zygote reaps it, ends the processes that it has
  started, and reports it. Entries that had arrived are still sent. Its executions are released
  with `{"crashed": true}`, so that the server counts an attempt, and an execution whose last
  attempt crashed runs alone from then on: it can no longer end others.
- It is retired: after `max_executions_per_child`, above `max_child_memory`, or if code in it
  still runs although its execution has ended. It gets no more executions and ends when the last one
  has ended; another child takes its place at once.
- It is killed: above twice `max_child_memory`, which counts as a crash; or if its loop is blocked
  and an execution in it must end. The other executions are then released without blame.
- The zygote ends: so do its children (Linux: by a signal of the kernel), and a new one is started.
- The worker ends, even by SIGKILL: zygote and children see the end of their sockets; on Linux the
  kernel also ends them while their code blocks.

A cancelled execution has `CANCEL_GRACE_S` to end. Then the worker reports CANCELLED and retires
the child, or kills it if its loop is blocked.

Guaranteed
----------
- Whatever a workflow does within its process: heartbeats, claims and the checkpoints of other
  children continue, and an execution that loses its child is queued again within a second.
- The memory, environment, arguments and open files of a child contain no credential of the worker.

Not guaranteed
--------------
- Isolation of executions in one child from each other: they share an interpreter. `runner =
  "subprocess"` gives an execution a child of its own.
- Protection of the worker from a process of the same user that means harm: it may send signals, and
  as root it can read any memory. Run workers as a user without rights.

Alternatives
------------
- A process for each execution: an interpreter takes 150 ms of processor time to start, a fork and
  its exit about 5 ms, and a source is imported once for each execution instead of once for each
  child.
- `multiprocessing`: pickles in both directions, so a child could run code in the worker.
- Forking the worker itself: the copy contains its tokens and the threads' locks.
- The worker protocol in each child: every child would need a credential and connections of its own.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections import OrderedDict
from collections.abc import Callable
from itertools import count

from windlass.worker._child_process import ChildProcess
from windlass.worker._confine import resident_bytes
from windlass.worker._line_buffer import LineBuffer
from windlass.worker._models import Assignment, Claim
from windlass.worker._progress_buffer import ProgressBuffer
from windlass.worker._remote_run import RemoteRun
from windlass.worker._run_services import RunServices
from windlass.worker._settings import Settings
from windlass.worker._zygote_process import ZygoteProcess

log = logging.getLogger("windlass.worker")

CHECK_INTERVAL_S = 1.0
# A child whose loop has not answered for this long gets executions only if all others are blocked.
BLOCKED_S = 0.5
# A child that ends before this age is replaced after a delay: its end may have a lasting cause.
SHORT_LIFE_S = 1.0
RESPAWN_DELAY_S = 1.0
MAX_REMEMBERED_CRASHES = 10_000


class ChildPool:
    """Runner with child processes. All methods run in the worker's loop."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._zygote = ZygoteProcess(settings, self._on_started, self._on_ended, self._on_lost)
        self._children: dict[int, ChildProcess] = {}
        self._numbers = count(1)
        self._run_numbers = count(1)
        self._crashed: OrderedDict[str, None] = OrderedDict()
        self._checking: asyncio.Task[None] | None = None
        self._is_stopping = False
        self.lag_s = 0.0

    @property
    def processes(self) -> list[int]:
        """Process ids of the children that have started."""
        return [child.pid for child in self._children.values() if child.pid]

    async def start(self) -> None:
        """Starts the zygote and the children. Raises RunnerFailed."""
        await self._zygote.start()
        self._fill()
        self._checking = asyncio.create_task(self._check_regularly())

    def create_run(
        self,
        assignment: Assignment,
        claim: Claim,
        services: RunServices,
        progress: ProgressBuffer,
        lines: LineBuffer | None,
        on_waiting: Callable[[], None],
    ) -> RemoteRun:
        """Creates the run of a claimed execution."""
        number = next(self._run_numbers)
        return RemoteRun(self, number, assignment, claim, services, progress, lines, on_waiting)

    def assign(self, run: RemoteRun) -> ChildProcess:
        """Returns the child for a run: one of its own, or the one with the fewest executions."""
        if run.is_alone or run.execution_id in self._crashed:
            return self._spawn(is_shared=False)
        shared = [child for child in self._children.values() if child.takes_runs]
        if not shared:
            return self._spawn(is_shared=True)
        return min(shared, key=lambda child: (child.unanswered_s() > BLOCKED_S, len(child.runs)))

    def retire_if_used_up(self, child: ChildProcess) -> None:
        """Retires a child that has had its number of executions, and ends an idle retired one."""
        limit = self._settings.max_executions_per_child
        if not child.is_shared or (limit and child.started_runs >= limit):
            child.is_retired = True
        if child.is_retired:
            self._fill()
            child.end_if_idle()

    def retire(self, child: ChildProcess) -> None:
        """Gives a child no more executions; another one takes its place."""
        child.is_retired = True
        self.retire_if_used_up(child)

    def probe(self) -> float:
        """Probes all children; returns how long the most responsive one has not answered."""
        shared = [child for child in self._children.values() if child.takes_runs]
        for child in shared:
            child.probe()
        self.lag_s = min((child.lag_s for child in shared), default=0.0)
        return min((child.unanswered_s() for child in shared), default=0.0)

    async def stop(self, timeout_s: float) -> bool:
        """Ends all children and the zygote."""
        self._is_stopping = True
        if self._checking is not None:
            self._checking.cancel()
        for child in self._children.values():
            child.kill()
        await self._zygote.stop(timeout_s)
        for child in self._children.values():
            child.close()
        await asyncio.sleep(0)
        return True

    def _fill(self) -> None:
        """Starts children until the number that the settings name can take executions."""
        missing = self._settings.children - sum(c.takes_runs for c in self._children.values())
        for _ in range(0 if self._is_stopping else missing):
            self._spawn(is_shared=True)

    def _spawn(self, *, is_shared: bool) -> ChildProcess:
        number = next(self._numbers)
        child = ChildProcess(number, self, is_shared=is_shared)
        self._children[number] = child
        self._zygote.request(number, child.connect())
        return child

    def _on_started(self, number: int, pid: int) -> None:
        if child := self._children.get(number):
            child.pid = pid
            if child.is_killed:
                child.kill()

    def _on_ended(self, number: int, status: int) -> None:
        child = self._children.pop(number, None)
        if child is None:
            return
        if not child.pid:
            # It could not be started, so its executions are not to blame.
            child.is_killed = True
        code = os.waitstatus_to_exitcode(status)
        if child.runs and not child.is_killed:
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            log.error("child %d ended with %s and %d executions", child.pid, how, len(child.runs))
        if not child.is_killed:
            for run in child.runs.values():
                self._crashed[run.execution_id] = None
            while len(self._crashed) > MAX_REMEMBERED_CRASHES:
                self._crashed.popitem(last=False)
        child.on_ended()
        if time.monotonic() - child.created_at < SHORT_LIFE_S and not child.is_retired:
            asyncio.get_running_loop().call_later(RESPAWN_DELAY_S, self._fill)
        else:
            self._fill()

    def _on_lost(self) -> None:
        """Ends the children of a zygote that has ended, and starts another one."""
        log.error("the process that starts children has ended; starting another one")
        for number, child in list(self._children.items()):
            child.kill()
            child.is_killed = False
            self._on_ended(number, signal.SIGKILL)

    async def _check_regularly(self) -> None:
        while True:
            await asyncio.sleep(CHECK_INTERVAL_S)
            for child in list(self._children.values()):
                child.probe()
                self._check_memory(child)

    def _check_memory(self, child: ChildProcess) -> None:
        limit = self._settings.max_child_memory_bytes
        used = resident_bytes(child.pid) if limit and child.pid else 0
        if used > 2 * limit:
            log.error("child %d is killed: it uses %d MiB", child.pid, used // 2**20)
            child.kill_as_crash()
        elif used > limit and not child.is_retired:
            log.warning("child %d is replaced: it uses %d MiB", child.pid, used // 2**20)
            self.retire(child)
