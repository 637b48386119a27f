"""Services of the test engine: secrets, configs, approvals and other workflows in memory."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from windlass._cache import DEFAULT_LIMITS, CacheKey
from windlass._json import encode, loads
from windlass._services import Approval, NestedRun, RunnableWorkflow
from windlass.domain.state import ExecutionState
from windlass.errors import (
    ExecutionError,
    RecordedError,
    RequestRefusedError,
    WorkflowNotFoundError,
)


class Caller(Protocol):
    """Execution that uses the services."""

    approvals: dict[str, Approval]
    progress: list[Any]


class Child(Protocol):
    """Execution of a sub-workflow."""

    execution_id: str
    state: ExecutionState
    settled: asyncio.Event
    ended: asyncio.Event

    @property
    def output(self) -> Any:
        """Output as JSON, or the record of the failure."""


class Host(Protocol):
    """Engine that runs the executions."""

    secrets: dict[str, Any]
    previous_secrets: dict[str, Any]
    configs: dict[str, Any]

    def find_workflow(self, namespace: str, name: str) -> RunnableWorkflow | None:
        """Returns a registered workflow, or None."""

    def start_child(self, workflow: Any, input: Any, key: str, parent: Any) -> Child:
        """Starts a sub-workflow, once for each key; a cancel of `parent` cancels it."""
        ...

    def cancel_child(self, execution_id: str) -> None:
        """Cancels a sub-workflow, unless it has ended."""


class MemoryCache:
    """Results of tasks with the option `cache`, in virtual time."""

    def __init__(self) -> None:
        self._entries: dict[CacheKey, tuple[datetime, str]] = {}

    def find(self, key: CacheKey, now: datetime, ttl_s: float | None) -> Any:
        """Returns the cached result unless it is older than `ttl_s`, or None."""
        stored_at, text = self._entries.get(key, (now, "null"))
        max_age_s = min(DEFAULT_LIMITS.max_age_s, math.inf if ttl_s is None else ttl_s)
        return loads(text) if (now - stored_at).total_seconds() <= max_age_s else None

    def store(self, key: CacheKey, value: Any, now: datetime) -> None:
        """Caches a result; None is not cached."""
        self._entries[key] = (now, encode(value))


class EngineServices:
    """Services of one execution of the engine."""

    def __init__(self, engine: Host, execution: Caller) -> None:
        self._engine = engine
        self._execution = execution

    async def fetch_secrets(
        self, names: Sequence[str], *, previous: bool = False
    ) -> dict[str, Any]:
        """Returns secrets of `engine.secrets`, or of `engine.previous_secrets`."""
        if previous:
            values = self._engine.previous_secrets
            return _pick("previous secret", "engine.previous_secrets", values, names)
        return _pick("secret", "engine.secrets", self._engine.secrets, names)

    async def fetch_configs(self, names: Sequence[str]) -> dict[str, Any]:
        """Returns configs of `engine.configs`."""
        return _pick("config", "engine.configs", self._engine.configs, names)

    async def authorize_task(self, task_name: str) -> None:
        """Allows every task."""

    async def request_approval(self, call_id: str, task_name: str) -> str:
        """Requests an approval, which the test decides."""
        self._execution.approvals.setdefault(call_id, Approval("pending", approval_id=call_id))
        return "created"

    async def find_approval(self, call_id: str) -> Approval | None:
        """Returns the approval of a call."""
        return self._execution.approvals.get(call_id)

    async def start_workflow(self, nested: NestedRun) -> str:
        """Starts another workflow in the engine."""
        return self._start_child(nested).execution_id

    async def run_workflow(self, nested: NestedRun, *, fails_if_paused: bool) -> Any:
        """Runs another workflow in the engine."""
        child = self._start_child(nested)
        await (child.settled if fails_if_paused else child.ended).wait()
        if child.state == "COMPLETED":
            return child.output
        if child.state == "FAILED":
            failure = child.output
            raise ExecutionError(RecordedError(failure["type"], failure["message"], failure))
        raise ExecutionError(message=f"the workflow {nested.target} is {child.state}")

    async def cancel_workflow(self, execution_id: str) -> None:
        """Cancels an execution of the engine."""
        self._engine.cancel_child(execution_id)

    def _start_child(self, nested: NestedRun) -> Child:
        target = nested.target
        workflow = target.workflow or self._engine.find_workflow(target.namespace, target.name)
        if workflow is None:
            raise WorkflowNotFoundError(
                f"the engine has no workflow '{target}'; "
                "register it with engine.register, or call it as an object"
            )
        parent = self._execution if nested.on_cancel == "cancel" else None
        return self._engine.start_child(workflow, nested.input, nested.key, parent)

    def publish_progress(self, call_id: str, task_name: str, value: Any) -> None:
        """Keeps the progress for the test."""
        self._execution.progress.append(loads(encode(value)))


def _pick(kind: str, place: str, values: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    for name in names:
        if name not in values:
            raise RequestRefusedError(message=f"the {kind} {name} does not exist; set {place}")
    return {name: values[name] for name in names}
