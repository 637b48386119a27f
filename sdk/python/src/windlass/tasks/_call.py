"""The task `call`: runs another workflow."""

from __future__ import annotations

from typing import Any, Literal

from windlass._options import TaskOptions
from windlass._parking import only_awaits
from windlass._run import require_scope
from windlass._services import NestedRun, OnCancel, WorkflowTarget
from windlass._task_call import Call
from windlass.domain.events import ExecutionEventType as E
from windlass.task import Task
from windlass.workflow import Workflow


@only_awaits
async def _call(
    workflow: Workflow[Any, Any] | str,
    *args: Any,
    mode: Literal["sync", "async"] = "sync",
    on_cancel: OnCancel = "cancel",
) -> Any:
    """Runs a workflow, given as an object or as `"namespace/name"`.

    One argument is the workflow's input; several are sent as a list. Mode `"sync"` waits, returns
    the output and raises ExecutionError if the workflow failed; `"async"` returns the execution id
    at once. A call that is repeated after an interruption finds the execution that it had started.

    A cancel of the calling execution cancels the other one too, in both modes; with
    `on_cancel="leave"`, it continues. Calls of the compensations of a saga always continue.
    """
    if mode not in {"sync", "async"}:
        raise ValueError("mode must be sync or async")
    if on_cancel not in {"cancel", "leave"}:
        raise ValueError("on_cancel must be cancel or leave")
    scope = require_scope()
    run = scope.run
    workflow_input = args[0] if len(args) == 1 else (list(args) or None)
    key = f"{run.context.execution_id}:{scope.call_id}"
    ends = "leave" if scope.is_compensating else on_cancel
    nested = NestedRun(_to_target(workflow), workflow_input, key, ends)
    if mode == "async":
        return await run.services.start_workflow(nested)
    result = run.services.run_workflow(nested, fails_if_paused=True)
    waited_s = run.elapsed_s(run.find_start(E.TASK_STARTED, scope.call_id))
    return await run.parking.await_execution(
        result, lambda: run.services.start_workflow(nested), waited_s
    )


def _to_target(workflow: Workflow[Any, Any] | str) -> WorkflowTarget:
    if isinstance(workflow, Workflow):
        return WorkflowTarget(workflow.namespace, workflow.name, workflow)
    namespace, _, name = workflow.rpartition("/")
    return WorkflowTarget(namespace or "default", name)


def _decode(call: Call, value: Any) -> Any:
    target = call.args[0] if call.args else None
    if isinstance(target, Workflow) and call.arguments.get("mode", "sync") == "sync":
        return target.decode_output(value)
    return value


call = Task(_call, TaskOptions(name="call", auth_exempt=True), decode=_decode)
