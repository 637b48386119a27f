"""Inline runs: executes workflows in the calling process without a server, for tests."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

from windlass._children import track_children
from windlass._entry import Entry, create_entry
from windlass._json import encode, loads
from windlass._lifecycle import advance_execution
from windlass._run import Run
from windlass._services import Approval, RunnableWorkflow, WorkflowTarget
from windlass.domain.events import ExecutionEvent
from windlass.domain.events import ExecutionEventType as E
from windlass.domain.execution_context import ExecutionContext
from windlass.domain.state import ExecutionState
from windlass.errors import ExecutionError, RecordedError, WorkflowNotFoundError

MAX_PAUSED = 1000


class InlineRuns:
    """Executions of one workflow in this process. Keeps paused ones until they are resumed."""

    def __init__(self, workflow: RunnableWorkflow) -> None:
        self._workflow = workflow
        self._paused: OrderedDict[str, ExecutionContext[Any]] = OrderedDict()

    def run(self, input: Any) -> ExecutionContext[Any]:
        """Runs a new execution until it is settled."""
        return self._run_in_thread(create_context(self._workflow, input))

    def resume(self, execution_id: str, body: Any) -> ExecutionContext[Any]:
        """Resumes a paused execution and runs it until it is settled again."""
        paused = self._paused.pop(execution_id, None)
        if paused is None:
            raise WorkflowNotFoundError(f"no paused execution '{execution_id}' in this process")
        name = self._workflow.name
        resuming = create_entry(E.WORKFLOW_RESUMING, "", name, body, ExecutionState.RESUMING)
        return self._run_in_thread(_append_resuming(paused, resuming))

    def _run_in_thread(self, context: ExecutionContext[Any]) -> ExecutionContext[Any]:
        # A thread of its own: the caller may already run an event loop, for example in a notebook.
        with ThreadPoolExecutor(1) as executor:
            return executor.submit(asyncio.run, self._run_to_settled(context)).result()

    async def _run_to_settled(self, context: ExecutionContext[Any]) -> ExecutionContext[Any]:
        asyncio.get_running_loop().set_task_factory(track_children)
        settled = await run_inline(self._workflow, context)
        if settled.is_paused:
            self._paused[settled.execution_id] = settled
            while len(self._paused) > MAX_PAUSED:
                self._paused.popitem(last=False)
        return settled


class InlineJournal:
    """Journal in memory. Entries pass through JSON, as they would through the server."""

    def __init__(self, context: ExecutionContext[Any]) -> None:
        self._context = context
        self.events = list(context.events)

    def record(self, entry: Entry) -> None:
        """Appends the event as the server would return it."""
        self.events.append(ExecutionEvent.from_wire(loads(entry.text)))

    async def wait_for_capacity(self) -> None:
        """Returns at once: the journal is unbounded."""


class InlineServices:
    """Services without a server.

    Other workflows run inline; secrets and configs are refused, approvals stay pending.
    """

    async def fetch_secrets(
        self, names: Sequence[str], *, previous: bool = False
    ) -> dict[str, Any]:
        """Raises ExecutionError: secrets need a server."""
        raise ExecutionError(message=f"secrets need a server: {list(names)}")

    async def fetch_configs(self, names: Sequence[str]) -> dict[str, Any]:
        """Raises ExecutionError: configs need a server."""
        raise ExecutionError(message=f"configs need a server: {list(names)}")

    async def authorize_task(self, task_name: str) -> None:
        """Allows every task."""

    async def request_approval(self, call_id: str, task_name: str) -> str:
        """Returns `created`; the approval stays pending."""
        return "created"

    async def find_approval(self, call_id: str) -> Approval | None:
        """Returns None: no approval is ever decided."""
        return None

    async def call_workflow(
        self, target: WorkflowTarget, input: Any, *, key: str, wait: bool
    ) -> Any:
        """Runs a workflow given as an object. Raises WorkflowNotFoundError for a name alone."""
        if target.workflow is None:
            raise WorkflowNotFoundError(
                f"without a server '{target.namespace}/{target.name}' must be given as an object"
            )
        settled = await run_inline(target.workflow, create_context(target.workflow, input))
        if not wait:
            return settled.execution_id
        if settled.has_succeeded:
            return settled.output
        failure = settled.output or {
            "type": "ExecutionError",
            "message": f"the workflow is {settled.state}",
        }
        error = RecordedError(failure["type"], failure["message"], failure)
        raise ExecutionError(error)

    def publish_progress(self, call_id: str, task_name: str, value: Any) -> None:
        """Discards the progress."""


def create_context(workflow: RunnableWorkflow, input: Any) -> ExecutionContext[Any]:
    """Creates the context of a new execution."""
    return ExecutionContext(
        execution_id=uuid4().hex,
        workflow_name=workflow.name,
        workflow_namespace=workflow.namespace,
        input=loads(encode(input)),
        state=ExecutionState.CLAIMED,
    )


async def run_inline(
    workflow: RunnableWorkflow, context: ExecutionContext[Any]
) -> ExecutionContext[Any]:
    """Runs the workflow and returns the context of the settled execution."""
    journal = InlineJournal(context)
    transient = workflow.durability == "transient"
    run = Run(context, journal, InlineServices(), transient=transient)
    await advance_execution(run, lambda: workflow.perform(context))
    return _with_events(context, journal.events)


def _append_resuming(paused: ExecutionContext[Any], resuming: Entry) -> ExecutionContext[Any]:
    event = ExecutionEvent.from_wire(loads(resuming.text))
    return _with_events(paused, [*paused.events, event])


def _with_events(
    context: ExecutionContext[Any], events: Sequence[ExecutionEvent]
) -> ExecutionContext[Any]:
    return ExecutionContext(
        execution_id=context.execution_id,
        workflow_name=context.workflow_name,
        workflow_namespace=context.workflow_namespace,
        input=context.input,
        state=context.state,
        events=events,
    )
