"""Runs workflows where they are called, without a server. For tests and for trying things out."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

from windlass._children import adopting
from windlass._entry import Entry, entry
from windlass._json import loads
from windlass._lifecycle import advance
from windlass._run import Run
from windlass._services import Approval, RunnableWorkflow, Target
from windlass.domain.events import ExecutionEvent
from windlass.domain.events import ExecutionEventType as E
from windlass.domain.execution_context import ExecutionContext
from windlass.domain.state import ExecutionState
from windlass.errors import ExecutionError, RecordedError, WorkflowNotFoundError

MAX_PAUSED = 1000


class InlineRuns:
    """The executions of one workflow in this process, as far as they may still be resumed."""

    def __init__(self, workflow: RunnableWorkflow) -> None:
        self._workflow = workflow
        self._paused: OrderedDict[str, ExecutionContext[Any]] = OrderedDict()

    def run(self, input: Any) -> ExecutionContext[Any]:
        """A new execution, up to where it rests."""
        return self._rested(new_context(self._workflow, input))

    def resume(self, execution_id: str, body: Any) -> ExecutionContext[Any]:
        """A paused execution, from its pause to where it rests next."""
        paused = self._paused.pop(execution_id, None)
        if paused is None:
            raise WorkflowNotFoundError(f"no execution '{execution_id}' is paused here")
        name = self._workflow.name
        resuming = entry(E.WORKFLOW_RESUMING, "", name, body, ExecutionState.RESUMING)
        return self._rested(_again(paused, resuming))

    def _rested(self, context: ExecutionContext[Any]) -> ExecutionContext[Any]:
        # In a thread, so that it works where an event loop runs already, as in a notebook.
        with ThreadPoolExecutor(1) as executor:
            return executor.submit(asyncio.run, self._resting(context)).result()

    async def _resting(self, context: ExecutionContext[Any]) -> ExecutionContext[Any]:
        asyncio.get_running_loop().set_task_factory(adopting)
        rested = await run_inline(self._workflow, context)
        if rested.is_paused:
            self._paused[rested.execution_id] = rested
            while len(self._paused) > MAX_PAUSED:
                self._paused.popitem(last=False)
        return rested


class InlineJournal:
    """Keeps entries as the service would: as text, which nothing can change afterwards."""

    def __init__(self, context: ExecutionContext[Any]) -> None:
        self._context = context
        self.events = list(context.events)

    def record(self, made: Entry) -> None:
        """Keeps what the service would send back."""
        self.events.append(ExecutionEvent.from_wire(loads(made.text)))

    async def room(self) -> None:
        """There always is."""


class InlineServices:
    """There is no service: other workflows run right here, and nothing can be fetched."""

    async def secrets(self, names: Sequence[str]) -> dict[str, Any]:
        """Always raises."""
        raise ExecutionError(message=f"without a server there are no secrets: {list(names)}")

    async def configs(self, names: Sequence[str]) -> dict[str, Any]:
        """Always raises."""
        raise ExecutionError(message=f"without a server there are no configs: {list(names)}")

    async def authorize(self, task_name: str) -> None:
        """Every task may run."""

    async def request_approval(self, call_id: str, task_name: str) -> str:
        """Nobody is asked."""
        return "created"

    async def approval(self, call_id: str) -> Approval | None:
        """Nobody answers."""
        return None

    async def call(self, target: Target, input: Any, *, key: str, wait: bool) -> Any:
        """Runs a workflow that is at hand as an object."""
        if target.workflow is None:
            raise WorkflowNotFoundError(
                f"without a server '{target.namespace}/{target.name}' must be given as an object"
            )
        rested = await run_inline(target.workflow, new_context(target.workflow, input))
        if not wait:
            return rested.execution_id
        if rested.has_succeeded:
            return rested.output
        failure = rested.output or {"type": "ExecutionError", "message": f"it is {rested.state}"}
        error = RecordedError(failure["type"], failure["message"])
        raise ExecutionError(error)

    def progress(self, call_id: str, task_name: str, value: Any) -> None:
        """Nobody watches."""


def new_context(workflow: RunnableWorkflow, input: Any) -> ExecutionContext[Any]:
    """The context of an execution that begins now."""
    return ExecutionContext(
        execution_id=uuid4().hex,
        workflow_name=workflow.name,
        workflow_namespace=workflow.namespace,
        input=input,
        state=ExecutionState.CLAIMED,
    )


async def run_inline(
    workflow: RunnableWorkflow, context: ExecutionContext[Any]
) -> ExecutionContext[Any]:
    """The context as it is where the execution rests."""
    journal = InlineJournal(context)
    transient = workflow.durability == "transient"
    run = Run(context, journal, InlineServices(), transient=transient)
    await advance(run, lambda: workflow.perform(context))
    return _with(context, journal.events)


def _again(paused: ExecutionContext[Any], resuming: Entry) -> ExecutionContext[Any]:
    event = ExecutionEvent.from_wire(loads(resuming.text))
    return _with(paused, [*paused.events, event])


def _with(
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
