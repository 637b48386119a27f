"""Environment of a run: what it takes from outside its log. Tests replace it."""

from __future__ import annotations

import importlib
import random
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from windlass._cache import ResultCache, TaskCache
from windlass.interceptors import Interceptor


def _now() -> datetime:
    return datetime.now(UTC)


class ProcessCall(Protocol):
    """Call of a function in another process."""

    def run(self) -> Any:
        """Returns the result, or raises what the function raised. Blocks."""

    def kill(self) -> None:
        """Ends the call and its process. Callable from any thread."""


class ProcessPool(Protocol):
    """Pool of processes for tasks with the option `process`; `_process_pool` implements it."""

    @property
    def executor(self) -> Executor:
        """Threads of which each owns a process."""
        ...

    def create_call(
        self, scope: Any, func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> ProcessCall:
        """Creates a call, whose `run` must be called in a thread of `executor`."""
        ...


def _find_pool() -> ProcessPool:
    # By name: only tasks with the option `process` need these modules.
    pool: ProcessPool = importlib.import_module("windlass._process_pool").default_pool()
    return pool


def _ignore(*_: Any) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Environment:
    """Clock, random numbers and substitutes of a run.

    Attributes:
        clock: returns the time (UTC).
        random: source of `randint`, `randrange` and `choice`.
        uuid4: returns a random UUID.
        cache: store of the results of tasks with the option `cache`.
        bodies: functions that run instead of the functions of tasks.
        on_call: is called with id and place of each call when it is created.
        on_body: is called with the call id whenever a task's function is about to run.
        hold: is awaited before a call without a recorded outcome runs, unless the call only awaits
            others, as `parallel` does. A replay that must not run anything new never returns.
        processes: returns the pool for tasks with the option `process`.
        interceptors: functions around each attempt of a task and each body; the first is outermost.
    """

    clock: Callable[[], datetime] = _now
    random: Any = random
    uuid4: Callable[[], uuid.UUID] = uuid.uuid4
    cache: TaskCache = field(default_factory=ResultCache)
    bodies: Mapping[Callable[..., Any], Callable[..., Any]] = field(
        default_factory=dict[Callable[..., Any], Callable[..., Any]]
    )
    on_call: Callable[[str, str], None] = _ignore
    on_body: Callable[[str], None] = _ignore
    hold: Callable[[str], Awaitable[None]] | None = None
    processes: Callable[[], ProcessPool] = _find_pool
    interceptors: Sequence[Interceptor] = ()
