"""Execution of a workflow that ran in the calling process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from windlass._failures import restore_failure
from windlass._local_lines import LogLine
from windlass.domain.events import ExecutionEvent
from windlass.domain.execution_context import ExecutionContext
from windlass.errors import ExecutionError

I = TypeVar("I")  # noqa: E741
O_co = TypeVar("O_co", covariant=True)


class LocalExecution(ExecutionContext[I], Generic[I, O_co]):
    """Settled execution of `workflow.run`: the context with its log, and the typed result.

    Attributes:
        logs: what its code has written with `print` and `logging`, oldest first.
    """

    def __init__(
        self,
        *,
        execution_id: str,
        workflow_name: str,
        workflow_namespace: str,
        input: I,
        state: str,
        events: Iterable[ExecutionEvent],
        decode: Callable[[Any], O_co],
        names: dict[str, Any],
        logs: Iterable[LogLine] = (),
    ) -> None:
        super().__init__(
            execution_id=execution_id,
            workflow_name=workflow_name,
            workflow_namespace=workflow_namespace,
            input=input,
            state=state,
            events=events,
        )
        self._decode = decode
        self._names = names
        self.logs = list(logs)

    def __repr__(self) -> str:
        name = f"{self.workflow_namespace}/{self.workflow_name}"
        return f"LocalExecution({name!r}, {self.state})"

    def result(self) -> O_co:
        """Returns the output as the type of its annotation.

        Raises the failure of the execution, with its traceback as a note, or ExecutionError if it
        is paused.
        """
        if self.has_succeeded:
            return self._decode(self.output)
        if self.has_failed:
            error = restore_failure(self.output, self._names)
            error.add_note(str(self.output.get("traceback") or ""))
            raise error
        on = f" on {self.events[-1].value['name']!r}; resume it" if self.is_paused else ""
        raise ExecutionError(message=f"the execution has no result: it is {self.state}{on}")
