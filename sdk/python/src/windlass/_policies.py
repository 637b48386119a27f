"""`Retry` and `Cache`: policies that tasks take as options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from windlass._narrow import is_tuple
from windlass._option_checks import check_count, check_number, to_seconds
from windlass.errors import NonRetryable, root_cause

ExceptionTypes = type[BaseException] | tuple[type[BaseException], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """When and how often a failed task is attempted again.

    Durations are seconds or timedeltas. The attempts, and the time for `within`, are counted over
    the whole execution: a worker that continues it after a crash starts with what is left.

        @task.with_options(retry=Retry(attempts=5, on=ConnectionError, within=timedelta(hours=1)))

    Attributes:
        attempts: number of attempts, the first one included.
        delay: delay before the second attempt.
        backoff: factor by which each further delay grows.
        max_delay: longest delay.
        jitter: fraction from 0 to 1 by which a delay may be shorter or longer, so that executions
            that failed together do not return together.
        on: exception classes after which another attempt follows. Default: all.
        never_on: exception classes after which no attempt follows, such as `ValueError`.
        within: no attempt starts later than this after the start of the task. Default: no limit.
    """

    attempts: int = 3
    delay: float | timedelta = 1.0
    backoff: float = 2.0
    max_delay: float | timedelta = 600.0
    jitter: float = 0.0
    on: ExceptionTypes = Exception
    never_on: ExceptionTypes = ()
    within: float | timedelta | None = None

    def __post_init__(self) -> None:
        check_count("attempts", self.attempts)
        if not self.attempts:
            raise ValueError("attempts must be at least 1: the first attempt counts")
        check_number("backoff", self.backoff)
        check_number("jitter", self.jitter)
        if self.jitter > 1:
            raise ValueError(f"jitter must be a number from 0 to 1, not {self.jitter!r}")
        for name in ("delay", "max_delay", "within"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, to_seconds(name, value))
        for name in ("on", "never_on"):
            _check_classes(name, getattr(self, name))

    def permits(self, error: Exception) -> bool:
        """Returns true if another attempt may follow this failure."""
        causes = (error, root_cause(error))
        if any(isinstance(cause, NonRetryable) for cause in causes):
            return False
        return any(isinstance(cause, self.on) for cause in causes) and not any(
            isinstance(cause, self.never_on) for cause in causes
        )

    def delay_before(self, number: int, key: str) -> float:
        """Returns the seconds before an attempt, counted from 0.

        The jitter depends on `key` only, so that every run of an execution has the same delays.
        """
        if not number:
            return 0.0
        longest, delay = to_seconds("max_delay", self.max_delay), to_seconds("delay", self.delay)
        try:
            delay = min(delay * self.backoff ** (number - 1), longest)
        except OverflowError:
            delay = longest if delay else 0.0
        if not self.jitter:
            return delay
        import hashlib

        digest = hashlib.sha256(f"{key}:{number}".encode()).digest()
        fraction = int.from_bytes(digest[:8], "big") / 2**64
        return delay * (1 + self.jitter * (2 * fraction - 1))

    def permits_start_after(self, elapsed_s: float) -> bool:
        """Returns true if an attempt may start this long after the start of the task."""
        return self.within is None or elapsed_s <= to_seconds("within", self.within)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """How results of a task are reused by later calls, also of other executions.

    A result is found by calls of the same task, code and version of the same workflow with the same
    arguments, on the same worker. `None` is not cached.

    Attributes:
        ttl: age up to which a result is used, seconds or a timedelta; at most seven days, the
            default, because older ones are deleted.
        key: function of the call's arguments whose result identifies the call instead of them;
            a JSON value, for example without an argument that does not change the result.
        version: text that replaces the code of the task and the version of the workflow in the
            identity: results are reused after a change of the source until `version` changes.
    """

    ttl: float | timedelta | None = None
    key: Callable[..., Any] | None = None
    version: str | None = None

    def __post_init__(self) -> None:
        if self.ttl is not None:
            object.__setattr__(self, "ttl", to_seconds("ttl", self.ttl))
        if self.key is not None and not callable(self.key):
            raise TypeError(f"key must be a function of the arguments, not {self.key!r}")
        if self.version is not None and (not isinstance(self.version, str) or not self.version):
            raise TypeError(f"version must be text that is not empty, not {self.version!r}")


def _check_classes(name: str, value: Any) -> None:
    """Refuses everything but an exception class and a tuple of them."""
    kinds = value if is_tuple(value) else (value,)
    for kind in kinds:
        if not isinstance(kind, type) or not issubclass(kind, BaseException):
            raise TypeError(f"{name} must be an exception class or a tuple of them, not {value!r}")
