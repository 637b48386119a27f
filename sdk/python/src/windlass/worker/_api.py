"""The worker protocol as the rest of the worker sees it. Tests put something else in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from windlass._services import Approval
from windlass.worker._models import Claim


class Unavailable(Exception):
    """The server cannot be reached, or cannot answer now: the same may succeed later."""


class Refused(Exception):
    """The server has understood and will not do it: the same will never succeed."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status
        self.detail = detail

    @property
    def is_stale(self) -> bool:
        """The execution belongs to another worker, or to a later claim of this one."""
        return self.status == 409 and "stale-claim" in self.detail


class Api(Protocol):
    """Every method raises Unavailable or Refused."""

    @property
    def authorizes_tasks(self) -> bool:
        """Whether the server wants to be asked before a task runs."""

    async def claim(self, execution_id: str) -> Claim:
        """Makes an execution this worker's. Repeating it gives the same claim."""

    async def checkpoint(self, execution_id: str, body: bytes, generation: str | None) -> None:
        """Tells of new entries and the state after them."""

    async def release(self, execution_id: str, generation: str | None) -> None:
        """Gives an execution back, for another worker to take."""

    async def publish_progress(
        self, execution_id: str, body: bytes, generation: str | None
    ) -> None:
        """Shows something to those who watch."""

    async def pong(self, body: bytes) -> None:
        """Answers a ping."""

    async def fetch_secrets(self, execution_id: str, names: Sequence[str]) -> dict[str, Any]:
        """Fetches secrets that the workflow declares."""

    async def fetch_configs(self, names: Sequence[str]) -> dict[str, Any]:
        """Fetches configs."""

    async def authorize_task(self, execution_id: str, task_name: str, token: str) -> None:
        """Asks whether a task may run, in the name of the execution."""

    async def request_approval(self, execution_id: str, call_id: str, task_name: str) -> str:
        """Asks for an approval."""

    async def find_approval(self, execution_id: str, call_id: str) -> Approval | None:
        """Fetches an approval."""

    async def run_workflow(
        self, name: str, body: bytes, *, key: str, wait: bool, token: str | None
    ) -> dict[str, Any]:
        """Starts another workflow, once per `key`, and answers its execution's summary."""
