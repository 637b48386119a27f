"""The options of tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from windlass.output_storage import OutputStorage


class TaskOptionNames(TypedDict, total=False):
    """What `task.with_options` takes."""

    name: str | None
    retry_max_attempts: int
    retry_delay: float
    retry_backoff: float
    timeout: float
    fallback: Callable[..., Any] | None
    rollback: Callable[..., Any] | None
    secret_requests: Sequence[str]
    config_requests: Sequence[str]
    metadata: bool
    cache: bool
    output_storage: OutputStorage | None
    auth_exempt: bool
    requires_approval: bool | Callable[..., Any]
    required_permissions: Sequence[str]


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """How a task is run. Times are in seconds; a timeout of 0 is none.

    `retry_max_attempts` counts the attempts after the first one.
    """

    name: str | None = None
    retry_max_attempts: int = 0
    retry_delay: float = 1
    retry_backoff: float = 2
    timeout: float = 0
    fallback: Callable[..., Any] | None = None
    rollback: Callable[..., Any] | None = None
    secret_requests: Sequence[str] = ()
    config_requests: Sequence[str] = ()
    metadata: bool = False
    cache: bool = False
    output_storage: OutputStorage | None = None
    auth_exempt: bool = False
    requires_approval: bool | Callable[..., Any] = False
    required_permissions: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.retry_max_attempts < 0 or self.retry_delay < 0 or self.timeout < 0:
            raise ValueError("attempts, delays and timeouts are not negative")


@dataclass(frozen=True, slots=True)
class TaskMetadata:
    """What a task with the option `metadata` is told about its call."""

    task_id: str
    task_name: str
