"""What a run asks of the world around it. The worker and inline runs each have their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from windlass._entry import Entry
from windlass.domain.execution_context import ExecutionContext


class Journal(Protocol):
    """Where new entries go. Called in the thread of the user's event loop."""

    def record(self, entry: Entry) -> None:
        """Takes an entry. Never blocks."""

    async def wait_for_capacity(self) -> None:
        """Returns when there is room for what a new task will record."""


@dataclass(frozen=True, slots=True)
class Approval:
    """Somebody's decision about a task, or that there is none yet."""

    status: Literal["pending", "approved", "rejected", "cancelled"]
    approval_id: str | None = None
    requested_at: str | None = None
    approver_subject: str | None = None
    approver_provider: str | None = None
    reason: str | None = None


class RunnableWorkflow(Protocol):
    """A workflow as an object that an inline run can perform."""

    name: str
    namespace: str
    durability: str

    async def perform(self, context: ExecutionContext[Any]) -> Any:
        """Runs the body and returns its output as the log keeps it."""


@dataclass(frozen=True, slots=True)
class WorkflowTarget:
    """A workflow to be called: its name, and itself where the caller has it."""

    namespace: str
    name: str
    workflow: RunnableWorkflow | None = None


class Services(Protocol):
    """What the service does for a running execution."""

    async def fetch_secrets(self, names: Sequence[str]) -> dict[str, Any]:
        """The values of secrets that the workflow declares."""

    async def fetch_configs(self, names: Sequence[str]) -> dict[str, Any]:
        """The values of configs."""

    async def authorize_task(self, task_name: str) -> None:
        """Returns if the task may run. Raises TaskAuthorizationError if it may not."""

    async def request_approval(self, call_id: str, task_name: str) -> str:
        """Asks for approval: `created`, `exists`, `granted` or `cancelled`."""

    async def find_approval(self, call_id: str) -> Approval | None:
        """The approval of a call, if it was ever asked for."""

    async def call_workflow(
        self, target: WorkflowTarget, input: Any, *, key: str, wait: bool
    ) -> Any:
        """Runs another workflow: its output, or its execution id if nobody waits.

        `key` makes a repeated call the same execution.
        """

    def publish_progress(self, call_id: str, task_name: str, value: Any) -> None:
        """Tells whoever watches. May be lost. Callable from any thread."""
