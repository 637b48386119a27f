"""The task `call`: runs another workflow."""

from __future__ import annotations

from typing import Any, Literal

from windlass._options import TaskOptions
from windlass._parking import only_awaits
from windlass._run import require_scope
from windlass._services import OnCancel
from windlass._task_call import Call
from windlass.task import Task
from windlass.tasks._nested import await_nested_run, check_on_cancel, to_nested_run
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
    check_on_cancel(on_cancel)
    scope = require_scope()
    workflow_input = args[0] if len(args) == 1 else (list(args) or None)
    nested = to_nested_run(scope, scope.call_id, workflow, workflow_input, on_cancel)
    if mode == "async":
        return await scope.run.services.start_workflow(nested)
    return await await_nested_run(scope, nested, fails_if_paused=True)


def _decode(call: Call, value: Any) -> Any:
    target = call.args[0] if call.args else None
    if isinstance(target, Workflow) and call.arguments.get("mode", "sync") == "sync":
        return target.decode_output(value)
    return value


call = Task(_call, TaskOptions(name="call", auth_exempt=True), decode=_decode)
