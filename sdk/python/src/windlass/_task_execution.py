"""Execution of one call of a task: replay, approval, attempts, fallback, rollback and outcome."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import msgspec

from windlass._approval_gate import await_approval
from windlass._array_form import hash_frames
from windlass._attempts import Attempts
from windlass._body import run_body
from windlass._cache import CacheKey, is_same
from windlass._call_id import call_id
from windlass._code_hash import code_hash, find_bound
from windlass._entry import MAX_EVENT_BYTES
from windlass._failures import describe_failure, describe_without_values, restore_failure
from windlass._heartbeat import HeartbeatMonitor
from windlass._json import encode, encode_for_display, loads
from windlass._option_checks import to_seconds
from windlass._options import TaskMetadata, TaskOptions
from windlass._policies import Cache
from windlass._replay import COMPENSATIONS, Failed
from windlass._run import Attempt, Run, Scope, require_scope
from windlass._task_call import Call, ResultDecoder
from windlass._trace import Attributes
from windlass.domain.events import ExecutionEventType as E
from windlass.errors import (
    ApprovalRejected,
    ExecutionError,
    ExecutionTimeoutError,
    RequestRefusedError,
    TaskAuthorizationError,
    UnserializableError,
    ValueMismatchError,
    ValueTooLargeError,
)
from windlass.output_storage import (
    InlineOutputStorage,
    OutputStorage,
    OutputStorageReference,
    inline_result,
    is_inline,
    parse_reference,
    with_cache_mark,
    without_cache_mark,
)

log = logging.getLogger("windlass.run")

# Longer arguments are recorded by size and hash: the log is not their place.
MAX_ARGUMENTS = 64 * 1024

# Modules of tasks whose functions only await other calls.
_COMPOSITES = {
    f"windlass.tasks.{name}"
    for name in ("_parallel", "_pipeline", "_graph", "_first", "_as_completed")
}

_SCALARS = frozenset({str, int, float, bool, type(None)})


@dataclass(slots=True)
class TaskExecution:
    """Executes one call of a task.

    The value that the workflow gets is always decoded from the record, also in the run in which the
    task was executed. So it is the same value in every run.
    """

    func: Callable[..., Any]
    options: TaskOptions
    decoder: ResultDecoder
    task_name: str
    run: Run
    call: Call
    # True for `parallel`, whose branches run again in later runs of a saga.
    belongs_to_saga: bool = False
    # End of `total_timeout` (UTC), once the task has started.
    deadline: datetime | None = None

    @property
    def is_recorded(self) -> bool:
        """True if the log has the outcome, and nothing else is needed to return it."""
        return self.options.output_storage is None and self.run.replay.has_outcome(self.call.id)

    def decode(self, value: Any) -> Any:
        """Returns the recorded result as the workflow gets it."""
        return self.decoder.decode(self.call, value)

    def read_recorded(self) -> Any:
        """Returns or raises the outcome, if `is_recorded`."""
        recorded = self.run.replay.find_outcome(self.call.id)
        assert recorded is not None
        if isinstance(recorded, Failed):
            raise self.restore(recorded.failure)
        return self._read(recorded.value)

    async def execute(self) -> Any:
        """Returns or raises the recorded outcome if there is one; otherwise runs the task."""
        if self.is_recorded:
            return self.read_recorded()
        if self.run.guard.is_idle:
            return await self._execute()
        async with self.run.guard.entering(self.call.id):
            return await self._execute()

    async def _execute(self) -> Any:
        recorded = self.run.replay.find_outcome(self.call.id)
        if recorded is None:
            recorded = self.run.replay.find_result(self.call.id)
            if recorded is None:
                return await self._execute_unrecorded()
            self._record(E.TASK_COMPLETED, recorded.value)
        if isinstance(recorded, Failed):
            raise self.restore(recorded.failure)
        with self.run.guard.loading():
            return await self._load(recorded.value)

    async def _execute_unrecorded(self) -> Any:
        hold = self.run.environment.hold
        if hold is not None and self.func.__module__ not in _COMPOSITES:
            await hold(self.call.id)
        is_held = self.run.is_catching_up or self.run.is_cancel_due
        if is_held and not require_scope().is_compensating:
            await self._await_cancel()
        options = self.options
        has_limit = bool(options.timeout or options.total_timeout or options.heartbeat_timeout)
        parking = self.run.parking
        is_busy = parking.begin_task(self.func, has_limit=has_limit)
        try:
            return await self._run_to_outcome()
        finally:
            if is_busy:
                parking.end_task()

    async def _await_cancel(self) -> None:
        if self.func.__module__ not in _COMPOSITES:
            await asyncio.get_running_loop().create_future()

    async def _run_to_outcome(self) -> Any:
        try:
            if not self.options.auth_exempt:
                await self.run.services.authorize_task(self.task_name)
            if self.options.requires_approval:
                await await_approval(self.options, self.run, self.call, self.task_name, 0)
            await self.run.wait_for_capacity()
            if self._is_strict:
                await self.run.wait_until_stored()
            started_at = self.run.find_start(E.TASK_STARTED, self.call.id)
            self._record_arguments(E.TASK_STARTED)
            result = await self._execute_attempts(started_at)
        except (ApprovalRejected, RequestRefusedError, TaskAuthorizationError) as error:
            failure = self._record_failure(error)
            if self._is_strict:
                await self.run.wait_until_stored()
            # The same cause as in every later run.
            raise failure from failure.__cause__
        except Exception as error:
            try:
                return await self._recover(error)
            finally:
                if self._is_strict:
                    await self.run.wait_until_stored()
        self._record(E.TASK_COMPLETED, result.form, value_text=result.text)
        if self._is_strict:
            await self.run.wait_until_stored()
        return result.value

    @property
    def _is_strict(self) -> bool:
        return self.run.is_strict or self.options.durability == "strict"

    async def _execute_attempts(self, started_at: datetime) -> Result:
        total_s = self.options.total_timeout
        attempts = Attempts(self, self.options.retry_policy, started_at, has_limit=total_s > 0)
        if not total_s:
            return await attempts.execute()
        self.deadline = started_at + timedelta(seconds=total_s)
        timeout = ExecutionTimeoutError(
            total_s, f"the task took longer than {total_s} seconds in total"
        )
        left_s = total_s - self.run.elapsed_s(started_at)
        if left_s <= 0:
            # A limit would pass only when the attempt awaits something.
            raise timeout
        limit = asyncio.timeout(left_s)
        try:
            async with limit:
                return await attempts.execute()
        except TimeoutError:
            if limit.expired():
                raise timeout from None
            raise

    async def attempt(self, number: int) -> Any:
        """Runs one attempt, given its number from 0."""
        trace = self.run.trace
        if trace is None:
            return await self._run_attempt(number)
        attributes: Attributes = {"windlass.call_id": self.call.id, "windlass.attempt": number + 1}
        with trace.span(f"task {self.task_name}", attributes):
            return await self._run_attempt(number)

    async def _run_attempt(self, number: int) -> Any:
        if number:
            await await_approval(self.options, self.run, self.call, self.task_name, number)
        attempt = Attempt(number, self.deadline)
        if not self.options.cache:
            return await self._run_function(attempt)
        policy = self.options.cache if isinstance(self.options.cache, Cache) else Cache()
        cache, key = self.run.environment.cache, self._cache_key(policy)
        ttl_s = None if policy.ttl is None else to_seconds("ttl", policy.ttl)
        clock = self.run.environment.clock
        found = await asyncio.to_thread(cache.find, key, clock(), ttl_s)
        if found is not None:
            return CacheHit(found)
        value = await self._run_function(attempt)
        if self._is_cacheable(value):
            await asyncio.to_thread(cache.store, key, value, clock())
        return value

    def _is_cacheable(self, value: Any) -> bool:
        """True unless the output storage keeps what the cache, which holds JSON, cannot return."""
        if self.options.output_storage is None:
            return True
        try:
            return is_same(self.decode(loads(encode(value))), value)
        except (UnserializableError, ValueMismatchError):
            return False

    async def _run_function(self, attempt: Attempt) -> Any:
        number = attempt.number
        path = f"{self.call.id}~retry{number}" if number else self.call.id
        injected = await self._resolve_injected() if self.options.has_injected else None
        timeout_s = self.options.heartbeat_timeout
        monitor = HeartbeatMonitor(
            self.run, self.call, attempt, timeout_s, is_sensitive=self.options.sensitive
        )
        try:
            if timeout_s:
                body = partial(self._run_body, self.func, path, attempt, injected)
                return await monitor.run_within_limit(body)
            return await self._run_body(self.func, path, attempt, injected)
        finally:
            monitor.end()

    def _cache_key(self, policy: Cache) -> CacheKey:
        context, call = self.run.context, self.call.key
        if policy.key is not None:
            call = encode(policy.key(*self.call.args, **self.call.kwargs))
        else:
            call += hash_frames([self.call.args, self.call.kwargs])
        if bound := find_bound(self.func):
            call += call_id("", {}, bound, {})
        return CacheKey(
            namespace=context.workflow_namespace,
            workflow=context.workflow_name,
            version="" if policy.version else context.workflow_id,
            task=self.task_name,
            code=f"version {policy.version}" if policy.version else code_hash(self.func),
            call=call,
        )

    async def _recover(self, error: Exception) -> Any:
        options = self.options
        if options.fallback or options.rollback:
            await self.run.await_threads(self.call.id)
        if options.fallback:
            return await self._run_fallback(options.fallback, error)
        if options.rollback:
            self._record_arguments(E.TASK_ROLLBACK_STARTED, failure=self.describe(error))
            try:
                output = await self._run_body(
                    options.rollback, f"{self.call.id}~rollback", Attempt()
                )
                rolled_back = await self.store(output, decode=False)
                self._record(E.TASK_ROLLBACK_COMPLETED, rolled_back.form)
            except Exception as failure:
                self._record(E.TASK_ROLLBACK_FAILED, self.describe(failure))
                error = failure
        restored = self._record_failure(error)
        raise restored from restored.__cause__

    async def _run_fallback(self, fallback: Callable[..., Any], error: Exception) -> Any:
        self._record_arguments(E.TASK_FALLBACK_STARTED, failure=self.describe(error))
        try:
            value = await self._run_body(fallback, f"{self.call.id}~fallback", Attempt())
            result = await self.store(value)
        except Exception as failure:
            described = self.describe(failure)
            self._record(E.TASK_FALLBACK_FAILED, described)
            restored = self.restore(described)
            raise restored from restored.__cause__
        self._record(E.TASK_FALLBACK_COMPLETED, result.form, value_text=result.text)
        self._record(E.TASK_COMPLETED, result.form, value_text=result.text)
        return result.value

    def _record_failure(self, error: Exception) -> ExecutionError:
        described = self.describe(error)
        # Without the message: it may contain values of the workflow, which no log should hold.
        log.warning(
            "task %s of execution %s failed: %s\n%s",
            self.call.id,
            self.run.context.execution_id,
            described["type"],
            described.get("traceback") or "",
        )
        self._record(E.TASK_FAILED, InlineOutputStorage().store(self.call.id, described).to_dict())
        return self.restore(described)

    def describe(self, error: BaseException) -> dict[str, Any]:
        """Returns a failure in the form in which the log holds it."""
        is_sensitive = self.options.sensitive
        describe = describe_without_values if is_sensitive else describe_failure
        return describe(error, self.run.mask)

    def restore(self, failure: Mapping[str, Any]) -> ExecutionError:
        """Returns the exception of a recorded failure."""
        return restore_failure(failure, getattr(self.func, "__globals__", {}))

    @property
    def _is_of_sdk(self) -> bool:
        return str(getattr(self.func, "__module__", "")).startswith("windlass.")

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
        outer = require_scope()
        scope = Scope(
            run=outer.run,
            path=path,
            call_id=self.call.id,
            task_name=self.call.name,
            attempt=attempt,
            branches=outer.branches if self.belongs_to_saga else (),
            is_compensating=outer.is_compensating,
            is_sensitive=self.options.sensitive,
        )
        kwargs = {**self.call.kwargs, **injected} if injected else self.call.kwargs
        interceptors = environment.interceptors
        return await run_body(
            func,
            self.call.args,
            kwargs,
            scope,
            self.options.timeout,
            in_process=self.options.process and func is self.func,
            interceptors=() if interceptors and self._is_of_sdk else interceptors,
        )

    async def _resolve_injected(self) -> dict[str, Any]:
        injected: dict[str, Any] = {}
        if self.options.secret_requests:
            secrets = await self.run.services.fetch_secrets(self.options.secret_requests)
            self.run.hide(secrets.values())
            injected["secrets"] = secrets
        if self.options.config_requests:
            names = [name.format(**self.call.arguments) for name in self.options.config_requests]
            injected["config"] = await self.run.services.fetch_configs(names)
        if self.options.metadata:
            injected["metadata"] = TaskMetadata(self.call.id, self.call.name)
        return injected

    async def store(self, value: Any, *, decode: bool = True) -> Result:
        """Returns the stored form of a value and the value as every run sees it.

        The form of a CacheHit says so. Raises UnserializableError or ValueMismatchError.
        """
        is_cached = isinstance(value, CacheHit)
        value = value.value if isinstance(value, CacheHit) else value
        storage = self.options.output_storage
        if storage is None:
            text = encode(value)
            # Here, not when it is recorded: a task may catch it and hand over to a fallback.
            if len(text) > MAX_EVENT_BYTES:
                what = f"the result of {self.call.id}"
                raise ValueTooLargeError(what, len(text), MAX_EVENT_BYTES)
            # Two halves of a surrogate pair are one character in JSON.
            is_kept = type(value) in _SCALARS and "\\ud" not in text
            plain = value if is_kept else loads(text)
            form, form_text = inline_result(self.call.id, plain, text, is_cached=is_cached)
            return Result(self.decode(plain) if decode else plain, form, form_text)
        if is_cached:
            value = self.decode(value)
        reference = await asyncio.to_thread(storage.store, self.call.id, value)
        try:
            # As JSON has it: later runs read it from the log.
            text = encode((with_cache_mark(reference) if is_cached else reference).to_dict())
            form = loads(text)
            return Result(await self._load(form) if decode else value, form, text)
        except Exception:
            # The attempt fails, so no event will refer to the stored value.
            await asyncio.to_thread(_delete_unreferenced, storage, reference)
            raise

    async def _load(self, recorded: Any) -> Any:
        """Returns the value of a recorded result."""
        storage, reference = self.options.output_storage, parse_reference(recorded)
        if storage is None or reference is None or reference.storage_type == "inline":
            return self._read(recorded)
        value = await asyncio.to_thread(storage.retrieve, without_cache_mark(reference))
        is_json = reference.metadata.get("serializer") == "json"
        return self.decode(value) if is_json else value

    def _read(self, recorded: Any) -> Any:
        """Returns the value of a recorded result that is in the log itself."""
        if is_inline(recorded):
            return self.decode(recorded["metadata"].get("value"))
        reference = parse_reference(recorded)
        if reference is None:
            return self.decode(recorded)
        raise ExecutionError(
            message=f"the result of {self.call.id} is in a {reference.storage_type} storage; "
            "set the task's option output_storage"
        )

    def _record_arguments(self, type: E, *, failure: Mapping[str, Any] | None = None) -> None:
        """Records an event with the call's arguments; large ones by size and hash."""
        arguments: dict[str, Any] = {}
        text = "{}"
        if self.options.record_arguments and not self.options.sensitive:
            arguments, text = _describe_arguments(self.call)
        more: dict[str, Any] = {} if failure is None else {"failure": failure}
        if type is E.TASK_STARTED and (calls := self.run.compensations_of.get(self.call.id)):
            more[COMPENSATIONS] = calls
        if more:
            arguments = {**arguments, **more}
            text = encode_for_display(arguments)
        self._record(type, arguments, value_text=text)

    def _record(self, type: E, value: Any, *, value_text: str | None = None) -> None:
        self.run.record_task(type, self.call.id, self.call.name, value, value_text=value_text)


@dataclass(frozen=True, slots=True)
class CacheHit:
    """Value that an attempt returns without a run of the function."""

    value: Any


@dataclass(slots=True)
class Result:
    """Result of a task: the decoded value, its form in the log, and the JSON text of the form."""

    value: Any
    form: dict[str, Any]
    text: str


def _delete_unreferenced(storage: OutputStorage, reference: OutputStorageReference) -> None:
    try:
        storage.delete(reference)
    except NotImplementedError:  # a storage whose values expire in another way
        return
    except Exception as error:
        log.warning("failed to delete the stored result of %s: %r", reference.reference_id, error)


def to_recordable(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Returns arguments as the log shows them: infinite numbers, which JSON lacks, as text."""
    return {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in arguments.items()
    }


def _describe_arguments(call: Call) -> tuple[dict[str, Any], str]:
    """Returns the arguments of a call as the log shows them, and their JSON.

    Large arguments are shown by their size in bytes and the SHA-256 of their JSON.
    """
    if call.plain_size > MAX_ARGUMENTS:
        # Plain values need no conversion, and this text is not shown: the fastest encoder will do.
        summary = _summarize(_encode_plain(call.arguments))
        if summary is not None:
            return summary
    arguments = to_recordable(call.arguments)
    text = encode_for_display(arguments)
    return _summarize(text.encode()) or (arguments, text)


def _summarize(text: bytes) -> tuple[dict[str, Any], str] | None:
    if len(text) <= MAX_ARGUMENTS:
        return None
    summary = {"size": len(text), "sha256": hashlib.sha256(text).hexdigest()}
    return summary, encode(summary)


def _encode_plain(arguments: Mapping[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(arguments)
    except (TypeError, ValueError):  # calls of tasks, or half of a surrogate pair
        return b""
