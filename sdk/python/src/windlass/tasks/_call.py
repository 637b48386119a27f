"""The task `call`: runs another workflow."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Literal, TypeVar, overload

from windlass._options import TaskOptions
from windlass._parking import only_awaits
from windlass._run import require_scope
from windlass._services import OnCancel
from windlass._task_call import Call
from windlass.task import Task
from windlass.tasks._nested import await_nested_run, check_on_cancel, to_nested_run
from windlass.workflow import Workflow

I = TypeVar("I")  # noqa: E741
O = TypeVar("O")  # noqa: E741


class CallTask(Task[..., Any]):
    """The task `call`; `_call` describes its arguments."""

    @overload
    def __call__(
        self,
        workflow: Workflow[I, O],
        input: I | None = None,
        /,
        *,
        mode: Literal["sync"] = "sync",
        on_cancel: OnCancel = "cancel",
    ) -> Coroutine[None, None, O]: ...
    @overload
    def __call__(
        self,
        workflow: Workflow[Any, O],
        input: Any,
        second: Any,
        /,
        *more: Any,
        mode: Literal["sync"] = "sync",
        on_cancel: OnCancel = "cancel",
    ) -> Coroutine[None, None, O]: ...
    @overload
    def __call__(
        self,
        workflow: Workflow[I, Any],
        input: I | None = None,
        /,
        *,
        mode: Literal["async"],
        on_cancel: OnCancel = "cancel",
    ) -> Coroutine[None, None, str]: ...
    @overload
    def __call__(
        self,
        workflow: Workflow[Any, Any] | str,
        input: Any,
        second: Any,
        /,
        *more: Any,
        mode: Literal["async"],
        on_cancel: OnCancel = "cancel",
    ) -> Coroutine[None, None, str]: ...
    @overload
    def __call__(
        self,
        workflow: str,
        /,
        *inputs: Any,
        mode: Literal["async"],
        on_cancel: OnCancel = "cancel",
    ) -> Coroutine[None, None, str]: ...
    @overload
    def __call__(
        self,
        workflow: str,
        /,
        *inputs: Any,
        mode: Literal["sync"] = "sync",
        on_cancel: OnCancel = "cancel",
    ) -> Coroutine[None, None, Any]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Coroutine[None, None, Any]:
        return super().__call__(*args, **kwargs)


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


call = CallTask(_call, TaskOptions(name="call", auth_exempt=True), decode=_decode)
