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
from windlass.errors import WorkflowNotFoundError
from windlass.testing._engine import Engine, Execution
from windlass.workflow import Workflow

MAX_PAUSED = 1000

# Paused executions of this process, by id; the oldest are dropped.
_paused: OrderedDict[str, Execution] = OrderedDict()


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
    return LocalExecution(
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
