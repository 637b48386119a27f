"""Interface between the worker's executions and the place where their code runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from windlass._parking import WakeCondition
from windlass.worker._line_buffer import LineBuffer
from windlass.worker._models import Assignment, Claim
from windlass.worker._outbox import Outbox
from windlass.worker._progress_buffer import ProgressBuffer
from windlass.worker._run_services import RunServices


class RunHandle(Protocol):
    """One run, controlled from the worker's loop. Its entries arrive in `outbox`."""

    outbox: Outbox
    # True if the process of the run has ended before the run did.
    is_crashed: bool
    # Condition on which the execution continues, if the run has ended because it only waited.
    condition: WakeCondition | None

    def start(self) -> None:
        """Starts the run."""

    def cancel(self) -> None:
        """Cancels the workflow. It may clean up or even complete before it ends."""

    def abort(self) -> None:
        """Stops the workflow without recording anything more."""

    def park_early(self) -> None:
        """Parks the run if it still only waits, however short the wait was so far."""


class Runner(Protocol):
    """Runs workflows, in a thread of the worker or in child processes."""

    @property
    def lag_s(self) -> float:
        """Delay of the last answered probe, in seconds."""
        ...

    async def start(self) -> None:
        """Prepares for runs. Raises RunnerFailed."""

    def create_run(
        self,
        assignment: Assignment,
        claim: Claim,
        services: RunServices,
        progress: ProgressBuffer,
        lines: LineBuffer | None,
        on_waiting: Callable[[], None],
    ) -> RunHandle:
        """Creates the run of a claimed execution; `lines` gets what its code writes.

        `on_waiting` is called in the worker's loop when `park_early` would park the run.
        """
        ...

    def probe(self) -> float:
        """Probes the loops of user code; returns how long none of them has answered, in seconds."""
        ...

    async def stop(self, timeout_s: float) -> bool:
        """Ends all runs. Returns False if user code still occupies a thread of this process."""
        ...


class RunnerFailed(Exception):
    """The runner cannot start, for a reason that a restart does not remove."""
