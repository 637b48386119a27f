"""Creation of the call of a task."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol

from windlass._options import TaskOptions
from windlass._run import Run, require_scope
from windlass._signature import Signature
from windlass._task_call import (
    Call,
    CallExecution,
    ProcedureExecution,
    TaskCall,
    find_caller,
    identify_call,
)
from windlass._task_execution import TaskExecution


class CallableTask(Protocol):
    """Task whose calls are created."""

    name: str
    func: Callable[..., Any]
    options: TaskOptions
    signature: Signature
    # The object or class of a bound method.
    receiver: tuple[Any, ...]
    # Executes a call in place of a `TaskExecution` of the function.
    procedure: Callable[[Run, Call, TaskOptions], Coroutine[Any, Any, Any]] | None

    def decode(self, call: Call, value: Any) -> Any:
        """Returns the recorded result of a call as the workflow gets it."""


def create_call(
    task: CallableTask, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> TaskCall[Any]:
    """Creates a call, whose position among equal calls is fixed now. Called by the task itself."""
    scope = require_scope()
    run, receiver = scope.run, task.receiver
    if receiver:
        args = (*receiver, *args)
    call = identify_call(scope, task.name, task.signature, args, kwargs, receiver)
    execution: CallExecution
    if task.procedure is None:
        execution = TaskExecution(task.func, task.options, task, task.name, run, call)
    else:
        execution = ProcedureExecution(task.procedure, task.func, task.options, task, run, call)
    return TaskCall(execution, find_caller(3))
