"""Retries: runs a task until an attempt succeeds or no attempt is left."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from windlass._options import TaskOptions
from windlass._run import Run
from windlass._task_call import Call
from windlass.domain.events import ExecutionEventType as E
from windlass.errors import ApprovalRejected, ExecutionError, RetryError

MAX_DELAY_S = 600.0


async def run_attempts(
    options: TaskOptions,
    run: Run,
    call: Call,
    attempt: Callable[[int], Awaitable[Any]],
    store: Callable[[Any], Awaitable[Any]],
) -> tuple[Any, Any]:
    """Returns the result of the first attempt that succeeds and its stored form.

    `attempt` runs one attempt, given its number from 0; `store` converts a result into the form in
    which the log holds it. Attempts that the log records as failed are not repeated. Raises
    RetryError after the last attempt, or the task's own exception if the task has no retries.
    """
    error: Exception = ExecutionError(message="all attempts have failed")
    for number in range(run.replay.count_failed_attempts(call.id), options.retry_max_attempts + 1):
        record = _attempt_record(options, number)
        if number:
            await asyncio.sleep(record["current_delay"])
            await run.await_threads(call.id)
            run.record_task(E.TASK_RETRY_STARTED, call.id, call.name, record)
        try:
            value = await attempt(number)
        except ApprovalRejected:
            raise
        except Exception as failure:
            if not options.retry_max_attempts:
                raise
            run.record_task(E.TASK_RETRY_FAILED, call.id, call.name, record)
            error = failure
            continue
        form = await store(value)
        if number:
            output = {**record, "output": form}
            run.record_task(E.TASK_RETRY_COMPLETED, call.id, call.name, output)
        return value, form
    raise RetryError(error, options.retry_max_attempts, options.retry_delay) from error


def _attempt_record(options: TaskOptions, number: int) -> dict[str, Any]:
    delay = options.retry_delay * options.retry_backoff ** (number - 1) if number else 0
    record = {
        "current_attempt": number,
        "max_attempts": options.retry_max_attempts,
        "current_delay": min(delay, MAX_DELAY_S),
        "backoff": options.retry_backoff,
    }
    return record if number else {**record, "original_attempt": True}
