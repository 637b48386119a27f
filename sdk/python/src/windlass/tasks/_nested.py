"""Nested runs: what `call` and `start` share."""

from __future__ import annotations

from typing import Any

from windlass._run import Scope
from windlass._services import NestedRun, OnCancel, WorkflowTarget
from windlass.domain.events import ExecutionEventType as E
from windlass.workflow import Workflow


def to_nested_run(
    scope: Scope, call_id: str, workflow: Workflow[Any, Any] | str, input: Any, on_cancel: OnCancel
) -> NestedRun:
    """Returns the run of a workflow, given as an object or as `"namespace/name"`, by a call.

    Runs of compensations continue after a cancel.
    """
    key = f"{scope.run.context.execution_id}:{call_id}"
    ends = "leave" if scope.is_compensating else on_cancel
    return NestedRun(_to_target(workflow), input, key, ends)


def check_on_cancel(on_cancel: str) -> None:
    """Raises ValueError for anything but `"cancel"` and `"leave"`."""
    if on_cancel not in {"cancel", "leave"}:
        raise ValueError("on_cancel must be cancel or leave")


async def await_nested_run(scope: Scope, nested: NestedRun, *, fails_if_paused: bool) -> Any:
    """Returns the output of the run as JSON; the execution is parked if that takes long."""
    run = scope.run
    result = run.services.run_workflow(nested, fails_if_paused=fails_if_paused)
    waited_s = run.elapsed_s(run.find_start(E.TASK_STARTED, scope.call_id))
    return await run.parking.await_execution(
        result, lambda: run.services.start_workflow(nested), waited_s
    )


def _to_target(workflow: Workflow[Any, Any] | str) -> WorkflowTarget:
    if isinstance(workflow, Workflow):
        return WorkflowTarget(workflow.namespace, workflow.name, workflow)
    namespace, _, name = workflow.rpartition("/")
    return WorkflowTarget(namespace or "default", name)
