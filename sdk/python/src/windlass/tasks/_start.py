"""`start`: starts another workflow and continues; its result is awaited later, or never."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, overload

from windlass._options import TaskOptions
from windlass._parking import only_awaits
from windlass._run import require_scope
from windlass._services import NestedRun, OnCancel
from windlass._task_call import Call
from windlass.task import Task
from windlass.tasks._nested import await_nested_run, check_on_cancel, to_nested_run
from windlass.workflow import Workflow

I = TypeVar("I")  # noqa: E741
O = TypeVar("O")  # noqa: E741
O_co = TypeVar("O_co", covariant=True)


class StartedWorkflow(Generic[O_co]):
    """Execution that `start` has started.

    Attributes:
        execution_id: id of the execution.
    """

    def __init__(
        self,
        execution_id: str,
        workflow: Workflow[Any, O_co] | str,
        nested: NestedRun,
        *,
        wait_paused: bool,
    ) -> None:
        self.execution_id = execution_id
        self._workflow = workflow
        self._nested = nested
        self._wait_paused = wait_paused

    @property
    def __windlass_id__(self) -> str:
        return self.execution_id

    async def result(self) -> O_co:
        """Waits for the end of the execution and returns its output, as often as it is called.

        Raises ExecutionError if it failed or was cancelled. While it is paused, this waits, or,
        with `wait_paused=False`, raises ExecutionError.
        """
        options = TaskOptions(name="start_result", auth_exempt=True)
        result: O_co = await Task(self._await_result, options, decode=self._decode)(
            self.execution_id
        )
        return result

    async def cancel(self) -> None:
        """Requests the cancel of the execution, unless it has ended; does not wait for its end."""
        options = TaskOptions(name="start_cancel", auth_exempt=True)
        await Task(self._request_cancel, options)(self.execution_id)

    @only_awaits
    async def _await_result(self, execution_id: str) -> Any:
        fails_if_paused = not self._wait_paused
        return await await_nested_run(
            require_scope(), self._nested, fails_if_paused=fails_if_paused
        )

    async def _request_cancel(self, execution_id: str) -> None:
        await require_scope().run.services.cancel_workflow(execution_id)

    def _decode(self, call: Call, value: Any) -> Any:
        workflow = self._workflow
        return workflow.decode_output(value) if isinstance(workflow, Workflow) else value


@overload
async def start(
    workflow: Workflow[I, O],
    input: I | None = None,
    *,
    on_cancel: OnCancel = "cancel",
    wait_paused: bool = True,
) -> StartedWorkflow[O]: ...
@overload
async def start(
    workflow: str,
    input: Any = None,
    *,
    on_cancel: OnCancel = "cancel",
    wait_paused: bool = True,
) -> StartedWorkflow[Any]: ...
async def start(
    workflow: Workflow[Any, Any] | str,
    input: Any = None,
    *,
    on_cancel: OnCancel = "cancel",
    wait_paused: bool = True,
) -> StartedWorkflow[Any]:
    """Starts a workflow, given as an object or as `"namespace/name"`, and returns at once.

        report = await start(monthly_report, month)
        await notify(report.execution_id)
        return await report.result()

    The start is recorded: after an interruption, the same execution is found again. A cancel of the
    calling execution cancels the started one too, unless `on_cancel` is `"leave"`; the end of the
    calling one does not. `result()` waits while the started execution is paused; with
    `wait_paused=False` it then raises ExecutionError, as `call` does.
    """
    check_on_cancel(on_cancel)

    def decode(call: Call, execution_id: Any) -> StartedWorkflow[Any]:
        scope = require_scope()
        nested = to_nested_run(scope, call.id, workflow, input, on_cancel)
        return StartedWorkflow(str(execution_id), workflow, nested, wait_paused=wait_paused)

    options = TaskOptions(name="start", auth_exempt=True)
    started: Any = await Task(_start, options, decode=decode)(workflow, input, on_cancel)
    return started  # type: ignore[no-any-return]


async def _start(workflow: Workflow[Any, Any] | str, input: Any, on_cancel: OnCancel) -> str:
    scope = require_scope()
    nested = to_nested_run(scope, scope.call_id, workflow, input, on_cancel)
    return await scope.run.services.start_workflow(nested)
