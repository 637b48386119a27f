"""Options of tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from windlass._option_checks import (
    check_count,
    check_flag,
    check_name,
    check_number,
    check_storage,
    check_texts,
    to_seconds,
)
from windlass._policies import Cache, Retry

if TYPE_CHECKING:
    from windlass.output_storage import OutputStorage

_DURABILITIES = {"durable", "strict"}


class TaskOptionNames(TypedDict, total=False):
    """Keyword arguments of `task.with_options`; TaskOptions describes them."""

    name: str | None
    retry_max_attempts: int
    retry_delay: float | timedelta
    retry_backoff: float
    retry: Retry | None
    timeout: float | timedelta
    total_timeout: float | timedelta
    heartbeat_timeout: float | timedelta
    fallback: Callable[..., Any] | None
    rollback: Callable[..., Any] | None
    secret_requests: Sequence[str]
    config_requests: Sequence[str]
    metadata: bool
    cache: bool | Cache
    output_storage: OutputStorage | None
    auth_exempt: bool
    requires_approval: bool | Callable[..., Any]
    separate_approver: bool
    required_permissions: Sequence[str]
    record_arguments: bool
    sensitive: bool
    durability: str
    process: bool


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """Options of a task.

    Attributes:
        name: name in the log; may contain arguments, as in `"fetch_{url}"`. Default: the
            function's name.
        retry_max_attempts: number of attempts after the first one.
        retry_delay: seconds before the first retry, or a timedelta.
        retry_backoff: factor by which each further delay grows, up to 600 seconds.
        retry: policy of retries in place of the three options above; see `Retry`.
        timeout: seconds that one attempt may take, or a timedelta; 0 means no timeout.
        total_timeout: seconds that all attempts and the delays between them may take, counted from
            the start of the first one, over crashes and pauses; 0 means no limit.
        heartbeat_timeout: seconds within which an attempt must call `heartbeat` again, or it
            fails; 0 means no limit.
        fallback: function that is called with the same arguments when all attempts have failed;
            its result becomes the task's.
        rollback: function that is called with the same arguments when all attempts have failed
            and there is no fallback; the task still fails.
        secret_requests: names of secrets that are passed as the argument `secrets`.
        config_requests: names of configs that are passed as the argument `config`; may contain
            arguments.
        metadata: passes a TaskMetadata as the argument `metadata`.
        cache: reuses the result of an earlier call with the same arguments, also of other
            executions; True, or a `Cache` with its details. Results are stored in
            `.windlass/cache` of the worker's working directory for at most seven days.
        output_storage: storage of the result. Default: the log itself.
        auth_exempt: runs without a permission check.
        requires_approval: holds the task until it is approved; True, or a function of the
            arguments.
        separate_approver: the principal that started the execution may not decide the
            approval.
        required_permissions: further permissions that the caller needs.
        record_arguments: records the arguments in the log; above 64 KiB only size and hash.
        sensitive: keeps values of the task out of log, progress and worker log: arguments, results,
            and everything of failures but type and traceback. Needs `output_storage`, unless the
            task is annotated to return None.
        durability: `"durable"`, or `"strict"`: the task begins only when all earlier records are
            stored, and the workflow continues only when its outcome is.
        process: runs the function, a `def` at the top level of a module or class, in a process of
            its own: it computes in parallel to other tasks, a timeout or a cancel kills it, and
            its crash fails the attempt with TaskProcessCrashed. Arguments and result are pickled.
            It cannot call other tasks. Fallback and rollback run in a thread.
    """

    name: str | None = None
    retry_max_attempts: int = 0
    retry_delay: float = 1
    retry_backoff: float = 2
    retry: Retry | None = None
    timeout: float = 0
    total_timeout: float = 0
    heartbeat_timeout: float = 0
    fallback: Callable[..., Any] | None = None
    rollback: Callable[..., Any] | None = None
    secret_requests: Sequence[str] = ()
    config_requests: Sequence[str] = ()
    metadata: bool = False
    cache: bool | Cache = False
    output_storage: OutputStorage | None = None
    auth_exempt: bool = False
    requires_approval: bool | Callable[..., Any] = False
    separate_approver: bool = False
    required_permissions: Sequence[str] = ()
    record_arguments: bool = True
    sensitive: bool = False
    durability: str = "durable"
    process: bool = False

    def __post_init__(self) -> None:
        check_name(self.name)
        check_count("retry_max_attempts", self.retry_max_attempts)
        check_number("retry_backoff", self.retry_backoff)
        for name in ("retry_delay", "timeout", "total_timeout", "heartbeat_timeout"):
            object.__setattr__(self, name, to_seconds(name, getattr(self, name)))
        if self.retry is not None and not isinstance(self.retry, Retry):
            raise TypeError(f"retry must be a Retry, not {self.retry!r}")
        if not isinstance(self.cache, Cache):
            check_flag("cache", self.cache)
        for name in (
            "metadata",
            "auth_exempt",
            "separate_approver",
            "record_arguments",
            "sensitive",
            "process",
        ):
            check_flag(name, getattr(self, name))
        for name in ("secret_requests", "config_requests", "required_permissions"):
            check_texts(name, getattr(self, name))
        for name in ("fallback", "rollback"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                raise TypeError(f"{name} must be a function, not {getattr(self, name)!r}")
        if type(self.requires_approval) is not bool and not callable(self.requires_approval):
            raise TypeError(
                f"requires_approval must be True, False or a function, not "
                f"{self.requires_approval!r}"
            )
        if self.durability not in _DURABILITIES:
            raise ValueError(f"durability must be one of {sorted(_DURABILITIES)}")
        check_storage(self.output_storage)

    def replace(self, **options: Unpack[TaskOptionNames]) -> TaskOptions:
        """Returns a copy with some options changed.

        A `retry` replaces earlier options `retry_…` and the reverse; both at once are a ValueError.
        """
        changed = cast("dict[str, Any]", options)
        single = _SINGLE_RETRY_OPTIONS.keys() & changed.keys()
        if changed.get("retry") is not None:
            if single:
                raise ValueError(f"retry and {min(single)} exclude each other; set them in Retry")
            changed = {**_SINGLE_RETRY_OPTIONS, **changed}
        elif single:
            changed = {"retry": None, **changed}
        return replace(self, **changed)

    @property
    def has_injected(self) -> bool:
        """True if the function gets arguments that its callers do not pass."""
        return bool(self.secret_requests or self.config_requests or self.metadata)

    @property
    def retry_policy(self) -> Retry:
        """The option `retry`, or the policy of the three single options."""
        return self.retry or _retry(self.retry_max_attempts, self.retry_delay, self.retry_backoff)


# Every call of a task reads its policy.
@lru_cache
def _retry(max_attempts: int, delay: float, backoff: float) -> Retry:
    return Retry(attempts=max_attempts + 1, delay=delay, backoff=backoff)


_SINGLE_RETRY_OPTIONS = {"retry_max_attempts": 0, "retry_delay": 1, "retry_backoff": 2}


@dataclass(frozen=True, slots=True)
class TaskMetadata:
    """Identity of a call, passed to a task with the option `metadata`.

    Attributes:
        task_id: id of the call, unique in its execution and equal in every run.
        task_name: name of the task in the log.
    """

    task_id: str
    task_name: str
