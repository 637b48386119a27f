"""The task `call`: runs another workflow."""

from __future__ import annotations

from typing import Any, Literal

from windlass._options import TaskOptions
from windlass._parking import only_awaits
from windlass._run import require_scope
from windlass._services import WorkflowTarget
from windlass._task_call import Call
from windlass.domain.events import ExecutionEventType as E
from windlass.task import Task
from windlass.workflow import Workflow


@only_awaits
async def _call(
    workflow: Workflow[Any, Any] | str, *args: Any, mode: Literal["sync", "async"] = "sync"
) -> Any:
    """Runs a workflow, given as an object or as `"namespace/name"`.

    One argument is the workflow's input; several are sent as a list. Mode `"sync"` waits, returns
    the output and raises ExecutionError if the workflow failed; `"async"` returns the execution id
    at once. A call that is repeated after an interruption finds the execution that it had started.
    """
    if mode not in {"sync", "async"}:
        raise ValueError("mode must be sync or async")
    scope = require_scope()
    workflow_input = args[0] if len(args) == 1 else (list(args) or None)
    key = f"{scope.run.context.execution_id}:{scope.call_id}"
    run, target = scope.run, _to_target(workflow)

    async def start() -> str:
        return str(await run.services.call_workflow(target, workflow_input, key=key, wait=False))

    if mode == "async":
        return await start()
    result = run.services.call_workflow(target, workflow_input, key=key, wait=True)
    waited_s = run.elapsed_s(run.find_start(E.TASK_STARTED, scope.call_id))
    return await run.parking.await_execution(result, start, waited_s)


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
