"""Rows of the server's lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self


class _Row:
    """Row whose members are named as in the server's JSON."""

    @classmethod
    def from_json(cls, members: Mapping[str, Any]) -> Self:
        """Creates the row; unknown members are ignored, missing ones are None."""
        return cls(**{field.name: members.get(field.name) for field in fields(cls)})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class ExecutionRow(_Row):
    """Execution in a list. Times are ISO 8601 text."""

    execution_id: str
    workflow_namespace: str
    workflow_name: str
    state: str
    worker_name: str
    created_at: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class LogLine(_Row):
    """Line that the code of an execution wrote.

    Attributes:
        seq: position among the lines of the execution.
        task_id: call of the task that wrote it; empty for the body of the workflow.
        task_name: name of the task.
        level: `"debug"`, `"info"`, `"warning"`, `"error"` or `"critical"`.
        logger: name of the logger; `"stdout"` or `"stderr"` for what was printed.
        message: the text, which may have several lines.
        time: ISO 8601.
    """

    seq: int
    task_id: str
    task_name: str
    level: str
    logger: str
    message: str
    time: str


@dataclass(frozen=True, slots=True)
class UploadedWorkflow(_Row):
    """Workflow of an uploaded file; `version` is None and `metadata` is set after a dry run.

    `warnings` says why no connected worker could run it: imports that none reports, a runner that
    none offers. It is None if there are none.
    """

    namespace: str
    name: str
    version: int | None
    metadata: Mapping[str, Any] | None
    warnings: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class ScheduleRow(_Row):
    """Schedule. Times are ISO 8601 text; `input_data` is None in lists."""

    id: str
    name: str
    workflow_namespace: str
    workflow_name: str
    description: str | None
    schedule_type: str
    schedule_config: Mapping[str, Any]
    status: str
    overlap: str
    next_run_at: str | None
    last_run_at: str | None
    run_count: int
    failure_count: int
    run_as_service_account: str | None
    input_problem: str | None
    input_data: Any


@dataclass(frozen=True, slots=True)
class TickRow(_Row):
    """Tick of a schedule: its execution, or the reason why none was started."""

    execution_id: str | None
    workflow_name: str
    state: str
    scheduled_for: str | None
    started_at: str | None
    completed_at: str | None
    error: str | None
