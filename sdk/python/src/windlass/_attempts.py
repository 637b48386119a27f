"""Retries: runs a task until an attempt succeeds or no attempt is left."""

from __future__ import annotations

from collections.abc import Mapping
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
T_co = TypeVar("T_co", bound=Stored, covariant=True)


class Attempted(Protocol[T_co]):
    """Execution of a call, of which attempts are made."""

    @property
    def run(self) -> Run: ...

    @property
    def call(self) -> Call: ...

    async def attempt(self, number: int) -> Any:
        """Runs one attempt, given its number from 0."""

    async def store(self, value: Any) -> T_co:
        """Returns a result in the form in which the log holds it."""
        ...

    def describe(self, error: BaseException) -> dict[str, Any]:
        """Returns a failure in the form in which the log holds it."""
        ...

    def restore(self, failure: Mapping[str, Any]) -> ExecutionError:
        """Returns the exception of a recorded failure."""
        ...


@dataclass(slots=True)
class Attempts(Generic[T]):
    """Attempts of one call.

    `started_at` is the start of the first attempt, in whichever run that was.
    """

    execution: Attempted[T]
    policy: Retry
    started_at: datetime
    # True if a time limit runs during the delays, too.
    has_limit: bool = False

    async def execute(self) -> T:
        """Returns the stored result of the first attempt that succeeds.

        Attempts that the log records as failed are not repeated, and the delay after the last of
        them has the rest of its time. Raises RetryError after the last attempt, or the task's own
        exception if its first failure permits no other attempt.
        """
        number, error = 0, None
        failed = self.execution.run.replay.find_failed_attempt(self.execution.call.id)
        if failed:
            number, error = failed.number + 1, self.execution.restore(failed.failure)
            if failed.is_last or number >= self.policy.attempts:
                raise self._exhausted(error)
            delay = self._delay_before(number, error)
            elapsed_s = self.execution.run.elapsed_s(failed.time)
            await self._begin_retry(number, max(0.0, delay - elapsed_s))
        while True:
            try:
                value = await self.execution.attempt(number)
            except (ApprovalRejected, RequestRefusedError):
                raise
            except Exception as failure:
                wait = await self._on_failure(number, failure)
                number += 1
                await self._begin_retry(number, wait)
                continue
            result = await self.execution.store(value)
            if number:
                output = {**self._describe(number), "output": result.form}
                self._record(E.TASK_RETRY_COMPLETED, output)
            return result

    async def _on_failure(self, number: int, failure: Exception) -> float:
        """Records a failed attempt; returns the delay before the next one, or raises."""
        permitted = self.policy.permits(failure)
        if self.policy.attempts == 1 or not (permitted or number):
            raise failure
        record = {**self._describe(number), "failure": self.execution.describe(failure)}
        delay = self._delay_before(number + 1, failure)
        elapsed_s = self.execution.run.elapsed_s(self.started_at) + delay
        has_next = permitted and self.policy.permits_start_after(elapsed_s)
        # The counters do not show this, and a later run could not know it.
        self._record(E.TASK_RETRY_FAILED, record if has_next else {**record, "final": True})
        if not has_next or number + 1 >= self.policy.attempts:
            raise self._exhausted(failure) from failure
        return delay

    async def _begin_retry(self, number: int, delay_s: float) -> None:
        run, call = self.execution.run, self.execution.call
        await run.parking.delay_task(delay_s, has_limit=self.has_limit)
        await run.await_threads(call.id)
        self._record(E.TASK_RETRY_STARTED, self._describe(number))

    def _delay_before(self, number: int, error: Exception) -> float:
        required = error.seconds if isinstance(error, RetryAfter) else 0.0
        return max(self._policy_delay(number), required)

    def _policy_delay(self, number: int) -> float:
        key = f"{self.execution.run.context.execution_id}:{self.execution.call.id}"
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
        call = self.execution.call
        self.execution.run.record_task(type, call.id, call.name, value)
