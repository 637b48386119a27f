"""`workflow.run`: executions in the calling process, with the engine of the tests.

Time is virtual: sleeps, retry delays and timeouts take no time. Only while the workflow waits for
an open network connection does time pass as on a clock.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from windlass._json import encode, loads
from windlass._local_execution import LocalExecution
from windlass.domain.execution_context import ExecutionContext
from windlass.domain.state import ExecutionState
from windlass.errors import ExecutionContextNotFoundError, WorkflowNotFoundError
from windlass.testing._engine import Engine, Execution
from windlass.workflow import Workflow

MAX_PAUSED = 1000
MAX_ENDED = 100

# Paused executions of this process, by id; the oldest are dropped.
_paused: OrderedDict[str, Execution] = OrderedDict()
# Executions that have ended, likewise.
_ended: OrderedDict[str, LocalExecution[Any, Any]] = OrderedDict()


def run(workflow: Workflow[Any, Any], input: Any) -> LocalExecution[Any, Any]:
    """Runs a new execution until it is settled."""
    return _run_in_thread(lambda engine: engine.create(workflow, input, uuid4().hex))


def resume(workflow: Workflow[Any, Any], execution_id: str, body: Any) -> LocalExecution[Any, Any]:
    """Resumes a paused execution of this process and runs it until it is settled again."""
    paused = _paused.get(execution_id)
    if paused is None or paused.workflow.qualified_name != workflow.qualified_name:
        raise WorkflowNotFoundError(f"no paused execution '{execution_id}' in this process")
    given = loads(encode(body))
    del _paused[execution_id]
    return _run_in_thread(lambda engine: engine.create_resumed(workflow, paused, given))


def continue_run(
    workflow: Workflow[Any, Any], execution_id: str, input: Any
) -> LocalExecution[Any, Any]:
    """Resumes a paused execution of this process; returns one that has ended as it is."""
    ended = _ended.get(execution_id)
    if ended is not None and ended.workflow_name == workflow.name:
        return ended
    if execution_id not in _paused:
        raise ExecutionContextNotFoundError(f"no execution '{execution_id}' in this process")
    return resume(workflow, execution_id, input)


def advance(workflow: Workflow[Any, Any], context: ExecutionContext[Any]) -> ExecutionContext[Any]:
    """Runs the execution of a context until it is settled; adds the new events to the context."""
    if context.has_finished:
        return context
    context.workflow_name = context.workflow_name or workflow.name

    def create(engine: Engine) -> Execution:
        execution = engine.create(workflow, context.input, context.execution_id)
        execution.events = list(context.events)
        return execution

    local = _run_in_thread(create)
    for event in local.events[len(context.events) :]:
        context._append(  # pyright: ignore[reportPrivateUsage]
            event, ExecutionState(local.state)
        )
    return context


def _run_in_thread(create: Callable[[Engine], Execution]) -> LocalExecution[Any, Any]:
    # A thread of its own: the caller may already run an event loop, for example in a notebook.
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(asyncio.run, _run_until_settled(create)).result()


async def _run_until_settled(create: Callable[[Engine], Execution]) -> LocalExecution[Any, Any]:
    with Engine(start=datetime.now(UTC), seed=None, is_interactive=True) as engine:
        execution = create(engine)
        await engine.run_until_settled(execution)
    if execution.state == "PAUSED":
        _paused[execution.execution_id] = execution
        while len(_paused) > MAX_PAUSED:
            _paused.popitem(last=False)
    workflow = execution.workflow
    local: LocalExecution[Any, Any] = LocalExecution(
        execution_id=execution.execution_id,
        workflow_name=workflow.name,
        workflow_namespace=workflow.namespace,
        input=execution.input,
        state=execution.state,
        events=execution.events,
        decode=workflow.decode_output,
        names=getattr(workflow.func, "__globals__", {}),
        logs=execution.logs,
    )
    if local.has_finished:
        _ended[local.execution_id] = local
        while len(_ended) > MAX_ENDED:
            _ended.popitem(last=False)
    return local
