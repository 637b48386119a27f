"""Interfaces between a run and its environment: implemented by the worker and by inline runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from windlass._entry import Entry
from windlass.domain.execution_context import ExecutionContext


class Journal(Protocol):
    """Destination of new log entries. Called in the thread of the user's event loop."""

    def record(self, entry: Entry) -> None:
        """Appends an entry. Never blocks."""

    async def wait_for_capacity(self) -> None:
        """Waits until the journal has capacity for the entries of another task."""

    async def wait_until_stored(self) -> None:
        """Waits until all entries so far are stored. Raises CancelledError if they never will."""


@dataclass(frozen=True, slots=True)
class Approval:
    """State of a task's approval, including who decided it and why."""

    status: Literal["pending", "approved", "rejected", "cancelled"]
    approval_id: str | None = None
    requested_at: str | None = None
    approver_subject: str | None = None
    approver_provider: str | None = None
    reason: str | None = None


class RunnableWorkflow(Protocol):
    """Workflow object that an inline run can execute."""

    name: str
    namespace: str
    durability: str

    async def perform(self, context: ExecutionContext[Any]) -> Any:
        """Runs the body and returns its output in the form in which the log holds it."""


@dataclass(frozen=True, slots=True)
class WorkflowTarget:
    """Workflow to call: its name, and the object if the caller has it."""

    namespace: str
    name: str
    workflow: RunnableWorkflow | None = None

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


OnCancel = Literal["cancel", "leave"]


@dataclass(frozen=True, slots=True)
class NestedRun:
    """Run of a workflow by another one. Runs with the same key are one execution.

    `on_cancel`: what a cancel of the calling execution does to it.
    """

    target: WorkflowTarget
    input: Any
    key: str
    on_cancel: OnCancel = "cancel"


class Services(Protocol):
    """Operations of the server on behalf of a running execution."""

    async def fetch_secrets(
        self, names: Sequence[str], *, previous: bool = False
    ) -> dict[str, Any]:
        """Returns the values, or the previous values, of secrets that the workflow declares."""
        ...

    async def fetch_configs(self, names: Sequence[str]) -> dict[str, Any]:
        """Returns the values of configs."""
        ...

    async def authorize_task(self, task_name: str) -> None:
        """Returns if the task may run. Raises TaskAuthorizationError otherwise."""

    async def request_approval(self, call_id: str, task_name: str) -> str:
        """Requests approval of a call; returns `created`, `exists`, `granted` or `cancelled`."""
        ...

    async def find_approval(self, call_id: str) -> Approval | None:
        """Returns the approval of a call, or None if none was requested."""

    async def start_workflow(self, nested: NestedRun) -> str:
        """Starts another workflow; returns its execution id."""
        ...

    async def run_workflow(self, nested: NestedRun, *, fails_if_paused: bool) -> Any:
        """Runs another workflow and returns its output.

        Raises ExecutionError if it fails or is cancelled, or, with `fails_if_paused`, is paused.
        """

    async def cancel_workflow(self, execution_id: str) -> None:
        """Cancels an execution that this one has started, unless it has ended."""

    def publish_progress(self, call_id: str, task_name: str, value: Any) -> None:
        """Publishes progress to readers of the execution. Best effort; callable from any thread."""
