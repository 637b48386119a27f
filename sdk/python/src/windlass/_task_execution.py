"""Execution of one call of a task: replay, approval, attempts, fallback, rollback and outcome."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from windlass._approval_gate import await_approval
from windlass._attempts import run_attempts
from windlass._body import run_body
from windlass._cache import ResultCache
from windlass._failures import restore_failure, wrap_failure
from windlass._options import TaskMetadata, TaskOptions
from windlass._replay import Failed
from windlass._run import Attempt, Run, Scope
from windlass._task_call import Call
from windlass.domain.events import ExecutionEventType as E
from windlass.errors import ApprovalRejected, ExecutionError, TaskAuthorizationError, describe_error
from windlass.output_storage import InlineOutputStorage, parse_reference


@dataclass(frozen=True, slots=True)
class TaskExecution:
    """Executes one call of a task."""

    func: Callable[..., Any]
    options: TaskOptions
    restore: Callable[[Any], Any] | None
    task_name: str
    run: Run
    call: Call

    async def execute(self) -> Any:
        """Returns or raises the recorded outcome if there is one; otherwise runs the task."""
        recorded = self.run.replay.find_outcome(self.call.id)
        if recorded is None:
            recorded = self.run.replay.find_result(self.call.id)
            if recorded is None:
                return await self._execute_unrecorded()
            self._record(E.TASK_COMPLETED, recorded.value)
        if isinstance(recorded, Failed):
            raise restore_failure(recorded, getattr(self.func, "__globals__", {}))
        value = await self._fetch(recorded.value)
        return self.restore(value) if self.restore else value

    async def _execute_unrecorded(self) -> Any:
        try:
            if not self.options.auth_exempt:
                await self.run.services.authorize_task(self.task_name)
            await await_approval(self.options, self.run, self.call, self.task_name, 0)
            await self.run.wait_for_capacity()
            self._record(E.TASK_STARTED, to_recordable(self.call.arguments))
            value, form = await run_attempts(
                self.options, self.run, self.call, self._attempt, self._store
            )
            self._record(E.TASK_COMPLETED, form)
        except (ApprovalRejected, TaskAuthorizationError) as error:
            raise await self._record_failure(error) from error
        except Exception as error:
            return await self._recover(error)
        return value

    async def _attempt(self, number: int) -> Any:
        path = f"{self.call.id}~retry{number}" if number else self.call.id
        if number:
            await await_approval(self.options, self.run, self.call, self.task_name, number)
        attempt = Attempt(number)
        if not self.options.cache:
            return await self._run_body(self.func, path, attempt, await self._resolve_injected())
        cache = ResultCache()
        value = await asyncio.to_thread(cache.find, self.call.key)
        if value is None:
            value = await self._run_body(self.func, path, attempt, await self._resolve_injected())
            await asyncio.to_thread(cache.store, self.call.key, value)
        return value

    async def _recover(self, error: Exception) -> Any:
        options = self.options
        if options.fallback or options.rollback:
            await self.run.await_threads(self.call.id)
        if options.fallback:
            return await self._run_fallback(options.fallback, error)
        if options.rollback:
            self._record(E.TASK_ROLLBACK_STARTED, to_recordable(self.call.arguments))
            try:
                output = await self._run_body(
                    options.rollback, f"{self.call.id}~rollback", Attempt()
                )
                self._record(E.TASK_ROLLBACK_COMPLETED, await self._store(output))
            except Exception as failure:
                self._record(E.TASK_ROLLBACK_FAILED, describe_error(failure))
                raise await self._record_failure(failure) from error
        raise await self._record_failure(error) from error

    async def _run_fallback(self, fallback: Callable[..., Any], error: Exception) -> Any:
        self._record(E.TASK_FALLBACK_STARTED, to_recordable(self.call.arguments))
        try:
            value = await self._run_body(fallback, f"{self.call.id}~fallback", Attempt())
            form = await self._store(value)
        except Exception as failure:
            self._record(E.TASK_FALLBACK_FAILED, describe_error(failure))
            raise wrap_failure(failure) from error
        self._record(E.TASK_FALLBACK_COMPLETED, form)
        self._record(E.TASK_COMPLETED, form)
        return value

    async def _record_failure(self, error: Exception) -> ExecutionError:
        reference = InlineOutputStorage().store(self.call.id, describe_error(error))
        self._record(E.TASK_FAILED, reference.to_dict())
        return wrap_failure(error)

    async def _run_body(
        self,
        func: Callable[..., Any],
        path: str,
        attempt: Attempt,
        injected: Mapping[str, Any] | None = None,
    ) -> Any:
        scope = Scope(self.run, path, self.call.id, self.call.name, attempt)
        kwargs = {**self.call.kwargs, **(injected or {})}
        return await run_body(func, self.call.args, kwargs, scope, self.options.timeout)

    async def _resolve_injected(self) -> dict[str, Any]:
        injected: dict[str, Any] = {}
        if self.options.secret_requests:
            injected["secrets"] = await self.run.services.fetch_secrets(
                self.options.secret_requests
            )
        if self.options.config_requests:
            names = [name.format(**self.call.arguments) for name in self.options.config_requests]
            injected["config"] = await self.run.services.fetch_configs(names)
        if self.options.metadata:
            injected["metadata"] = TaskMetadata(self.call.id, self.call.name)
        return injected

    async def _store(self, value: Any) -> dict[str, Any]:
        storage = self.options.output_storage
        if storage is None:
            return InlineOutputStorage().store(self.call.id, value).to_dict()
        return (await asyncio.to_thread(storage.store, self.call.id, value)).to_dict()

    async def _fetch(self, recorded: Any) -> Any:
        reference = parse_reference(recorded)
        if reference is None:
            return recorded
        if reference.storage_type == "inline":
            return reference.metadata.get("value")
        if self.options.output_storage is None:
            raise ExecutionError(
                message=f"the result of {self.call.id} is in a {reference.storage_type} storage; "
                "set the task's option output_storage"
            )
        return await asyncio.to_thread(self.options.output_storage.retrieve, reference)

    def _record(self, type: E, value: Any) -> None:
        self.run.record_task(type, self.call.id, self.call.name, value)


def to_recordable(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Returns arguments as the log shows them: infinite numbers, which JSON lacks, as text."""
    return {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in arguments.items()
    }
