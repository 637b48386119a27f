"""Retries: runs a task until an attempt succeeds or no attempt is left."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

from windlass._failures import describe_failure
from windlass._options import TaskOptions
from windlass._run import Run
from windlass._task_call import Call
from windlass.domain.events import ExecutionEventType as E
from windlass.errors import (
    ApprovalRejected,
    ExecutionError,
    NonRetryable,
    RequestRefusedError,
    RetryAfter,
    RetryError,
)

MAX_DELAY_S = 600.0


class Stored(Protocol):
    """Result in the form in which the log holds it."""

    @property
    def form(self) -> Any: ...


T = TypeVar("T", bound=Stored)


async def run_attempts(
    options: TaskOptions,
    run: Run,
    call: Call,
    attempt: Callable[[int], Awaitable[Any]],
    store: Callable[[Any], Awaitable[T]],
) -> T:
    """Returns the stored result of the first attempt that succeeds.

    `attempt` runs one attempt, given its number from 0; `store` converts its result into the form
    in which the log holds it. Attempts that the log records as failed are not repeated. Raises
    RetryError after the last attempt, or the task's own exception if the task has no retries.
    """
    error: Exception = ExecutionError(message="all attempts have failed")
    last = options.retry_max_attempts
    for number in range(run.replay.count_failed_attempts(call.id), last + 1):
        record = _attempt_record(options, number)
        if number:
            await asyncio.sleep(max(record["current_delay"], _required_delay(error)))
            await run.await_threads(call.id)
            run.record_task(E.TASK_RETRY_STARTED, call.id, call.name, record)
        try:
            value = await attempt(number)
        except (ApprovalRejected, RequestRefusedError):
            raise
        except Exception as failure:
            if not last or (isinstance(failure, NonRetryable) and not number):
                raise
            failed = {**record, "failure": describe_failure(failure)}
            run.record_task(E.TASK_RETRY_FAILED, call.id, call.name, failed)
            error = failure
            if isinstance(failure, NonRetryable):
                break
            continue
        result = await store(value)
        if number:
            output = {**record, "output": result.form}
            run.record_task(E.TASK_RETRY_COMPLETED, call.id, call.name, output)
        return result
    raise RetryError(error, last, options.retry_delay) from error


def _required_delay(error: Exception) -> float:
    return error.seconds if isinstance(error, RetryAfter) else 0.0


def _attempt_record(options: TaskOptions, number: int) -> dict[str, Any]:
    delay = options.retry_delay * options.retry_backoff ** (number - 1) if number else 0
    record = {
        "current_attempt": number,
        "max_attempts": options.retry_max_attempts,
        "current_delay": min(delay, MAX_DELAY_S),
        "backoff": options.retry_backoff,
    }
    return record if number else {**record, "original_attempt": True}
