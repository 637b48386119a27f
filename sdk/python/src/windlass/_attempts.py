"""Retries: runs a task until an attempt succeeds or no attempt is left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from windlass._policies import Retry
from windlass._run import Run
from windlass._task_call import Call
from windlass.domain.events import ExecutionEventType as E
from windlass.errors import (
    ApprovalRejected,
    ExecutionError,
    RequestRefusedError,
    RetryAfter,
    RetryError,
)


class Stored(Protocol):
    """Result in the form in which the log holds it."""

    @property
    def form(self) -> Any: ...


T = TypeVar("T", bound=Stored)


@dataclass(frozen=True, slots=True)
class Attempts(Generic[T]):
    """Attempts of one call.

    `attempt` runs one attempt, given its number from 0; `store` converts its result into the form
    in which the log holds it; `describe` and `restore` convert failures likewise. `started_at` is
    the start of the first attempt, in whichever run that was.
    """

    policy: Retry
    run: Run
    call: Call
    started_at: datetime
    attempt: Callable[[int], Awaitable[Any]]
    store: Callable[[Any], Awaitable[T]]
    restore: Callable[[Mapping[str, Any]], ExecutionError]
    describe: Callable[[BaseException], dict[str, Any]]
    # True if a time limit runs during the delays, too.
    has_limit: bool = False

    async def execute(self) -> T:
        """Returns the stored result of the first attempt that succeeds.

        Attempts that the log records as failed are not repeated, and the delay after the last of
        them has the rest of its time. Raises RetryError after the last attempt, or the task's own
        exception if its first failure permits no other attempt.
        """
        number, error = 0, None
        failed = self.run.replay.find_failed_attempt(self.call.id)
        if failed:
            number, error = failed.number + 1, self.restore(failed.failure)
            if failed.is_last or number >= self.policy.attempts:
                raise self._exhausted(error)
            delay = self._delay_before(number, error)
            await self._begin_retry(number, max(0.0, delay - self.run.elapsed_s(failed.time)))
        while True:
            try:
                value = await self.attempt(number)
            except (ApprovalRejected, RequestRefusedError):
                raise
            except Exception as failure:
                wait = await self._on_failure(number, failure)
                number += 1
                await self._begin_retry(number, wait)
                continue
            result = await self.store(value)
            if number:
                output = {**self._describe(number), "output": result.form}
                self._record(E.TASK_RETRY_COMPLETED, output)
            return result

    async def _on_failure(self, number: int, failure: Exception) -> float:
        """Records a failed attempt; returns the delay before the next one, or raises."""
        permitted = self.policy.permits(failure)
        if self.policy.attempts == 1 or not (permitted or number):
            raise failure
        record = {**self._describe(number), "failure": self.describe(failure)}
        delay = self._delay_before(number + 1, failure)
        elapsed_s = self.run.elapsed_s(self.started_at) + delay
        has_next = permitted and self.policy.permits_start_after(elapsed_s)
        # The counters do not show this, and a later run could not know it.
        self._record(E.TASK_RETRY_FAILED, record if has_next else {**record, "final": True})
        if not has_next or number + 1 >= self.policy.attempts:
            raise self._exhausted(failure) from failure
        return delay

    async def _begin_retry(self, number: int, delay_s: float) -> None:
        await self.run.parking.delay_task(delay_s, has_limit=self.has_limit)
        await self.run.await_threads(self.call.id)
        self._record(E.TASK_RETRY_STARTED, self._describe(number))

    def _delay_before(self, number: int, error: Exception) -> float:
        required = error.seconds if isinstance(error, RetryAfter) else 0.0
        return max(self._policy_delay(number), required)

    def _policy_delay(self, number: int) -> float:
        key = f"{self.run.context.execution_id}:{self.call.id}"
        return self.policy.delay_before(number, key)

    def _exhausted(self, error: Exception) -> RetryError:
        exhausted = RetryError(error, self.policy.attempts - 1, self.policy.delay_before(1, ""))
        exhausted.__cause__ = error
        return exhausted

    def _describe(self, number: int) -> dict[str, Any]:
        record = {
            "current_attempt": number,
            "max_attempts": self.policy.attempts - 1,
            "current_delay": self._policy_delay(number),
            "backoff": self.policy.backoff,
        }
        return record if number else {**record, "original_attempt": True}

    def _record(self, type: E, value: Any) -> None:
        self.run.record_task(type, self.call.id, self.call.name, value)
