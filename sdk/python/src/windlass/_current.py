"""`current()`: what the running code may know about its execution, task and attempt."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from windlass._run import Scope, require_scope
from windlass._trace import current_traceparent


@dataclass(frozen=True, slots=True)
class Current:
    """Position of the calling code. In the body of a workflow, `task` and `call_id` are empty.

    Attributes:
        execution_id: id of the execution.
        workflow: namespace and name, as in `"default/report"`.
        task: name of the task in the log.
        call_id: id of the task's call: unique in the execution and equal in every run.
        attempt: number of the attempt, from 1.
        deadline: time (UTC) at which the first timeout of attempt, task and workflow ends, or None.
    """

    execution_id: str
    workflow: str
    task: str
    call_id: str
    attempt: int
    deadline: datetime | None
    _scope: Scope

    @property
    def idempotency_key(self) -> str:
        """Key for requests to other services: equal in all attempts and runs of this call."""
        return f"{self.execution_id}:{self.call_id}" if self.call_id else self.execution_id

    @property
    def traceparent(self) -> str | None:
        """W3C trace context of the running attempt, for the header of requests to other services.

        None if the execution is not traced.
        """
        return current_traceparent.get()

    @property
    def cancelled(self) -> bool:
        """True once the attempt has timed out, or the execution is cancelled or has left here.

        A function in a thread cannot be interrupted. If it takes long, it should read this property
        regularly and return: the next attempt starts after the thread has ended.
        """
        return self._scope.attempt.is_cancelled or self._scope.is_cancelled

    @property
    def heartbeat_details(self) -> Any:
        """Details of the last recorded `heartbeat` of this call, in an earlier attempt or run."""
        return self._scope.attempt.heartbeat_details

    @property
    def is_replaying(self) -> bool:
        """True until the run has recorded something that was not in the log when it began."""
        return self._scope.run.is_replaying


def current() -> Current:
    """Returns the position of the calling code, also in threads of synchronous tasks.

    Raises ExecutionContextNotFoundError outside a run.
    """
    scope = require_scope()
    context = scope.run.context
    deadlines = [time for time in (scope.attempt.deadline, scope.run.deadline) if time]
    return Current(
        execution_id=context.execution_id,
        workflow=f"{context.workflow_namespace}/{context.workflow_name}",
        task=scope.task_name,
        call_id=scope.call_id,
        attempt=scope.attempt.number + 1,
        deadline=min(deadlines, default=None),
        _scope=scope,
    )
