"""Interface of the worker protocol, implemented over HTTP and replaceable in tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from windlass._parking import WakeCondition
from windlass._services import Approval
from windlass.worker._models import Claim

# Duration of one long poll for the result of another workflow, in seconds.
CALL_WAIT_S = 20.0


class Unavailable(Exception):
    """The server cannot be reached or cannot answer now; a retry may succeed."""


class Refused(Exception):
    """The server refused the request; a retry cannot succeed."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status
        self.detail = detail

    @property
    def is_stale(self) -> bool:
        """True if the execution belongs to another worker or to a later claim of this one."""
        return self.status == 409 and "stale-claim" in self.detail


class Api(Protocol):
    """Operations of the server. Every method may raise Unavailable or Refused."""

    @property
    def authorizes_tasks(self) -> bool:
        """True if the server requires an authorization check before each task."""
        ...

    async def claim(self, execution_id: str, generation: str | None = None) -> Claim:
        """Claims an execution for this worker. Repeating it returns the same claim.

        With `generation`, it is refused unless that is the current claim generation.
        """
        ...

    def adopt(self, claim: Claim) -> None:
        """Takes the credential of an execution that is claimed by its first checkpoint."""

    def forget(self, execution_id: str) -> None:
        """Drops the credential of an execution that has ended or belongs to another worker."""

    async def checkpoint(self, execution_id: str, body: bytes, generation: str | None) -> None:
        """Sends new log entries and the state after them."""

    @property
    def park_after_s(self) -> float | None:
        """Longest wait for which a run is not parked; None if the server cannot park."""

    async def release(
        self,
        execution_id: str,
        generation: str | None,
        *,
        crashed: bool,
        condition: WakeCondition | None,
    ) -> None:
        """Releases an execution, so that another worker can claim it.

        `crashed`: its process has ended, which counts as an attempt. `condition`: it is queued when
        the condition is met.
        """

    async def publish_progress(
        self, execution_id: str, body: bytes, generation: str | None
    ) -> None:
        """Publishes progress to readers of the execution."""

    @property
    def stores_lines(self) -> bool:
        """True if the server stores what workflows write."""
        ...

    @property
    def stores_lines_of_checkpoints(self) -> bool:
        """True if checkpoints may carry what workflows write."""
        ...

    async def store_lines(self, execution_id: str, body: bytes, generation: str | None) -> None:
        """Stores captured lines of the execution; repeating it stores no line twice."""

    async def pong(self, body: bytes) -> None:
        """Answers a ping."""

    async def fetch_secrets(
        self, execution_id: str, names: Sequence[str], *, previous: bool = False
    ) -> dict[str, Any]:
        """Returns the values, or the previous values, of secrets that the workflow declares."""
        ...

    async def fetch_configs(self, execution_id: str, names: Sequence[str]) -> dict[str, Any]:
        """Returns the values of configs that the workflow may use."""
        ...

    async def authorize_task(self, execution_id: str, task_name: str, token: str) -> None:
        """Returns if the execution's token permits the task; raises Refused otherwise."""

    async def request_approval(self, execution_id: str, call_id: str, task_name: str) -> str:
        """Requests approval of a call; returns the status."""
        ...

    async def find_approval(self, execution_id: str, call_id: str) -> Approval | None:
        """Returns the approval of a call, or None if none was requested."""

    async def cancel_workflow(self, execution_id: str, nested_id: str) -> None:
        """Cancels an execution that another one has started, unless it has ended."""

    async def run_workflow(
        self, path: str, body: bytes, *, key: str, token: str | None
    ) -> dict[str, Any]:
        """Starts a workflow, once per `key`, and returns the summary of its execution.

        `path` is what follows `/workflows/` in the URL of the run.
        """
        ...
