"""Execution of one call of a task: replay, approval, attempts, fallback, rollback and outcome."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from windlass._approval_gate import await_approval
from windlass._attempts import run_attempts
from windlass._body import run_body
from windlass._cache import CacheKey, ResultCache
from windlass._code_hash import code_hash
from windlass._entry import check_size
from windlass._failures import describe_failure, restore_failure
from windlass._json import encode, encode_for_display, loads
from windlass._options import TaskMetadata, TaskOptions
from windlass._replay import Failed
from windlass._run import Attempt, Run, Scope
from windlass._task_call import Call
from windlass.domain.events import ExecutionEventType as E
from windlass.errors import (
    ApprovalRejected,
    ExecutionError,
    RequestRefusedError,
    TaskAuthorizationError,
)
from windlass.output_storage import InlineOutputStorage, inline_result, parse_reference

log = logging.getLogger("windlass.run")

# Longer arguments are recorded by size and hash: the log is not their place.
MAX_ARGUMENTS = 64 * 1024

_SCALARS = frozenset({str, int, float, bool, type(None)})


@dataclass(frozen=True, slots=True)
class TaskExecution:
    """Executes one call of a task.

    The value that the workflow gets is always decoded from the record, also in the run in which the
    task was executed. So it is the same value in every run.
    """

    func: Callable[..., Any]
    options: TaskOptions
    decode: Callable[[Any], Any]
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
            raise self._restore(recorded.failure)
        return await self._load(recorded.value)

    async def _execute_unrecorded(self) -> Any:
        try:
            if not self.options.auth_exempt:
                await self.run.services.authorize_task(self.task_name)
            await await_approval(self.options, self.run, self.call, self.task_name, 0)
            await self.run.wait_for_capacity()
            self._record_arguments(E.TASK_STARTED)
            result = await run_attempts(
                self.options, self.run, self.call, self._attempt, self._store
            )
        except (ApprovalRejected, RequestRefusedError, TaskAuthorizationError) as error:
            raise self._record_failure(error) from error
        except Exception as error:
            return await self._recover(error)
        self._record(E.TASK_COMPLETED, result.form, value_text=result.text)
        return result.value

    async def _attempt(self, number: int) -> Any:
        path = f"{self.call.id}~retry{number}" if number else self.call.id
        if number:
            await await_approval(self.options, self.run, self.call, self.task_name, number)
        attempt = Attempt(number)
        if not self.options.cache:
            return await self._run_body(self.func, path, attempt, await self._resolve_injected())
        cache, key = ResultCache(), self._cache_key()
        value = await asyncio.to_thread(cache.find, key)
        if value is None:
            value = await self._run_body(self.func, path, attempt, await self._resolve_injected())
            await asyncio.to_thread(cache.store, key, value)
        return value

    def _cache_key(self) -> CacheKey:
        context = self.run.context
        return CacheKey(
            namespace=context.workflow_namespace,
            workflow=context.workflow_name,
            version=context.workflow_id,
            task=self.task_name,
            code=code_hash(self.func),
            call=self.call.key,
        )

    async def _recover(self, error: Exception) -> Any:
        options = self.options
        if options.fallback or options.rollback:
            await self.run.await_threads(self.call.id)
        if options.fallback:
            return await self._run_fallback(options.fallback, error)
        if options.rollback:
            self._record_arguments(E.TASK_ROLLBACK_STARTED, failure=describe_failure(error))
            try:
                output = await self._run_body(
                    options.rollback, f"{self.call.id}~rollback", Attempt()
                )
                rolled_back = await self._store(output, decode=False)
                self._record(E.TASK_ROLLBACK_COMPLETED, rolled_back.form)
            except Exception as failure:
                self._record(E.TASK_ROLLBACK_FAILED, describe_failure(failure))
                raise self._record_failure(failure) from error
        raise self._record_failure(error) from error

    async def _run_fallback(self, fallback: Callable[..., Any], error: Exception) -> Any:
        self._record_arguments(E.TASK_FALLBACK_STARTED, failure=describe_failure(error))
        try:
            value = await self._run_body(fallback, f"{self.call.id}~fallback", Attempt())
            result = await self._store(value)
        except Exception as failure:
            described = describe_failure(failure)
            self._record(E.TASK_FALLBACK_FAILED, described)
            raise self._restore(described) from error
        self._record(E.TASK_FALLBACK_COMPLETED, result.form, value_text=result.text)
        self._record(E.TASK_COMPLETED, result.form, value_text=result.text)
        return result.value

    def _record_failure(self, error: Exception) -> ExecutionError:
        described = describe_failure(error)
        # Without the message: it may contain values of the workflow, which no log should hold.
        log.warning(
            "task %s of execution %s failed: %s\n%s",
            self.call.id,
            self.run.context.execution_id,
            described["type"],
            described.get("traceback") or "",
        )
        self._record(E.TASK_FAILED, InlineOutputStorage().store(self.call.id, described).to_dict())
        return self._restore(described)

    def _restore(self, failure: Mapping[str, Any]) -> ExecutionError:
        return restore_failure(failure, getattr(self.func, "__globals__", {}))

    async def _run_body(
        self,
        func: Callable[..., Any],
        path: str,
        attempt: Attempt,
        injected: Mapping[str, Any] | None = None,
    ) -> Any:
        environment = self.run.environment
        environment.on_body(self.call.id)
        func = environment.bodies.get(func, func) if environment.bodies else func
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

    async def _store(self, value: Any, *, decode: bool = True) -> Result:
        """Returns the stored form of a value and the value as every run sees it.

        Raises UnserializableError or ValueMismatchError.
        """
        storage = self.options.output_storage
        if storage is None:
            text = encode(value)
            # Here, not when it is recorded: a task may catch it and hand over to a fallback.
            check_size(f"the result of {self.call.id}", text)
            plain = value if type(value) in _SCALARS else loads(text)
            form, form_text = inline_result(self.call.id, plain, text)
            return Result(self.decode(plain) if decode else plain, form, form_text)
        form = (await asyncio.to_thread(storage.store, self.call.id, value)).to_dict()
        return Result(await self._load(form) if decode else value, form, encode(form))

    async def _load(self, recorded: Any) -> Any:
        """Returns the value of a recorded result."""
        reference = parse_reference(recorded)
        if reference is None:
            return self.decode(recorded)
        if reference.storage_type == "inline":
            return self.decode(reference.metadata.get("value"))
        if self.options.output_storage is None:
            raise ExecutionError(
                message=f"the result of {self.call.id} is in a {reference.storage_type} storage; "
                "set the task's option output_storage"
            )
        value = await asyncio.to_thread(self.options.output_storage.retrieve, reference)
        is_json = reference.metadata.get("serializer") == "json"
        return self.decode(value) if is_json else value

    def _record_arguments(self, type: E, *, failure: Mapping[str, Any] | None = None) -> None:
        """Records an event with the call's arguments; large ones by size and hash."""
        arguments: dict[str, Any] = {}
        if self.options.record_arguments:
            arguments = to_recordable(self.call.arguments)
            text = encode_for_display(arguments)
            if len(text) > MAX_ARGUMENTS:
                digest = hashlib.sha256(text.encode()).hexdigest()
                arguments = {"size": len(text), "sha256": digest}
        if failure is not None:
            arguments = {**arguments, "failure": failure}
        self._record(type, arguments, value_text=encode_for_display(arguments))

    def _record(self, type: E, value: Any, *, value_text: str | None = None) -> None:
        self.run.record_task(type, self.call.id, self.call.name, value, value_text=value_text)


@dataclass(frozen=True, slots=True)
class Result:
    """Result of a task: the decoded value, its form in the log, and the JSON text of the form."""

    value: Any
    form: dict[str, Any]
    text: str


def to_recordable(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Returns arguments as the log shows them: infinite numbers, which JSON lacks, as text."""
    return {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in arguments.items()
    }
