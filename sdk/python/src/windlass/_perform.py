"""One call of a task from the question whether it was made already to its last event."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from windlass._attempts import attempted
from windlass._body import run_body
from windlass._cache import ResultCache
from windlass._call import Call
from windlass._failures import revived, wrapped
from windlass._gate import passed
from windlass._options import TaskMetadata, TaskOptions
from windlass._replay import Failed
from windlass._run import Run, Scope
from windlass.domain.events import ExecutionEventType as E
from windlass.errors import ApprovalRejected, ExecutionError, TaskAuthorizationError, described
from windlass.output_storage import InlineOutputStorage, reference_of


@dataclass(frozen=True, slots=True)
class Performance:
    """Carries a call out. Lives as long as the call."""

    func: Callable[..., Any]
    options: TaskOptions
    restore: Callable[[Any], Any] | None
    task_name: str
    run: Run
    call: Call

    async def result(self) -> Any:
        """The recorded outcome if there is one, else that of running the task now."""
        recorded = self.run.replay.outcome(self.call.id)
        if recorded is None:
            recorded = self.run.replay.result(self.call.id)
            if recorded is None:
                return await self._afresh()
            self._tell(E.TASK_COMPLETED, recorded.value)
        if isinstance(recorded, Failed):
            raise revived(recorded, getattr(self.func, "__globals__", {}))
        value = await self._fetched(recorded.value)
        return self.restore(value) if self.restore else value

    async def _afresh(self) -> Any:
        try:
            if not self.options.auth_exempt:
                await self.run.services.authorize(self.task_name)
            await passed(self.options, self.run, self.call, self.task_name, 0)
            await self.run.room()
            self._tell(E.TASK_STARTED, finite(self.call.arguments))
            value, form = await attempted(
                self.options, self.run, self.call, self._attempt, self._kept
            )
            self._tell(E.TASK_COMPLETED, form)
        except (ApprovalRejected, TaskAuthorizationError) as error:
            raise await self._failed(error) from error
        except Exception as error:
            return await self._recovered(error)
        return value

    async def _attempt(self, number: int) -> Any:
        path = f"{self.call.id}~retry{number}" if number else self.call.id
        if number:
            await passed(self.options, self.run, self.call, self.task_name, number)
        if not self.options.cache:
            return await self._body(self.func, path, await self._injected())
        cache = ResultCache()
        value = await asyncio.to_thread(cache.find, self.call.key)
        if value is None:
            value = await self._body(self.func, path, await self._injected())
            await asyncio.to_thread(cache.keep, self.call.key, value)
        return value

    async def _recovered(self, error: Exception) -> Any:
        options = self.options
        if options.fallback:
            return await self._fallback(options.fallback, error)
        if options.rollback:
            self._tell(E.TASK_ROLLBACK_STARTED, finite(self.call.arguments))
            try:
                undone = await self._body(options.rollback, f"{self.call.id}~rollback")
                self._tell(E.TASK_ROLLBACK_COMPLETED, await self._kept(undone))
            except Exception as worse:
                self._tell(E.TASK_ROLLBACK_FAILED, described(worse))
                raise await self._failed(worse) from error
        raise await self._failed(error) from error

    async def _fallback(self, fallback: Callable[..., Any], error: Exception) -> Any:
        self._tell(E.TASK_FALLBACK_STARTED, finite(self.call.arguments))
        try:
            value = await self._body(fallback, f"{self.call.id}~fallback")
            form = await self._kept(value)
        except Exception as worse:
            self._tell(E.TASK_FALLBACK_FAILED, described(worse))
            raise wrapped(worse) from error
        self._tell(E.TASK_FALLBACK_COMPLETED, form)
        self._tell(E.TASK_COMPLETED, form)
        return value

    async def _failed(self, error: Exception) -> ExecutionError:
        reference = InlineOutputStorage().store(self.call.id, described(error))
        self._tell(E.TASK_FAILED, reference.to_dict())
        return wrapped(error)

    async def _body(
        self, func: Callable[..., Any], path: str, injected: Mapping[str, Any] | None = None
    ) -> Any:
        scope = Scope(self.run, path, self.call.id, self.call.name)
        kwargs = {**self.call.kwargs, **(injected or {})}
        return await run_body(func, self.call.args, kwargs, scope, self.options.timeout)

    async def _injected(self) -> dict[str, Any]:
        injected: dict[str, Any] = {}
        if self.options.secret_requests:
            injected["secrets"] = await self.run.services.secrets(self.options.secret_requests)
        if self.options.config_requests:
            names = [name.format(**self.call.arguments) for name in self.options.config_requests]
            injected["config"] = await self.run.services.configs(names)
        if self.options.metadata:
            injected["metadata"] = TaskMetadata(self.call.id, self.call.name)
        return injected

    async def _kept(self, value: Any) -> dict[str, Any]:
        storage = self.options.output_storage
        if storage is None:
            return InlineOutputStorage().store(self.call.id, value).to_dict()
        return (await asyncio.to_thread(storage.store, self.call.id, value)).to_dict()

    async def _fetched(self, recorded: Any) -> Any:
        reference = reference_of(recorded)
        if reference is None:
            return recorded
        if reference.storage_type == "inline":
            return reference.metadata.get("value")
        if self.options.output_storage is None:
            raise ExecutionError(message=f"no {reference.storage_type} storage for {self.call.id}")
        return await asyncio.to_thread(self.options.output_storage.retrieve, reference)

    def _tell(self, type: E, value: Any) -> None:
        self.run.tell_task(type, self.call.id, self.call.name, value)


def finite(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as the log shows them: an infinite limit is a fine argument, but not JSON."""
    return {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in arguments.items()
    }
