"""The `workflow` decorator."""

from __future__ import annotations

import importlib
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar, Unpack, overload
from unicodedata import normalize

from windlass._option_checks import (
    check_labels,
    check_name,
    check_priority,
    check_queue_timeout,
    check_storage,
    check_tags,
    check_texts,
    to_seconds,
)

if TYPE_CHECKING:
    from windlass._decode import Decoder
    from windlass._local_execution import LocalExecution
    from windlass.domain.execution_context import ExecutionContext
    from windlass.domain.resource_request import ResourceRequest
    from windlass.domain.schedule import Schedule
    from windlass.output_storage import OutputStorage
    from windlass.routing import Score

__all__ = ["Workflow", "WorkflowOptions", "workflow"]

I = TypeVar("I")  # noqa: E741
O = TypeVar("O")  # noqa: E741
O_co = TypeVar("O_co", covariant=True)

_NAMESPACE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_DURABILITIES = {"durable", "strict", "transient"}
_MISMATCH_MODES = ("pause", "fail", "continue")
_RUNNERS = {None, "inprocess", "subprocess", "docker"}


class WorkflowOptionNames(TypedDict, total=False):
    """Keyword arguments of `workflow.with_options`; WorkflowOptions describes them."""

    name: str | None
    namespace: str | None
    secret_requests: Sequence[str]
    output_storage: OutputStorage | None
    requests: ResourceRequest | None
    affinity: Mapping[str, str | float] | None
    schedule: Schedule | None
    durability: str
    runner: str | None
    routing: Score | None
    required_permissions: Sequence[str]
    queue_timeout: float | timedelta | None
    priority: int | None
    tags: Mapping[str, str] | None
    timeout: float | timedelta
    on_mismatch: str


@dataclass(frozen=True, slots=True)
class WorkflowOptions:
    """Options of a workflow.

    The server reads them from the uploaded source; they are also checked here, so that a mistake
    appears before the upload.

    Attributes:
        name: name of the workflow. Default: the function's name.
        namespace: namespace of the name. Default: `"default"`.
        secret_requests: names of the secrets that the workflow's tasks may request.
        output_storage: storage of the output. Default: the log itself.
        requests: resources that a worker must have free.
        affinity: labels that a worker must have; numbers and flags count as their text.
        schedule: schedule that starts the workflow.
        durability: `"durable"`; `"strict"`: each task begins only when all earlier records are
            stored; or `"transient"` for executions that record only their start and end.
        runner: runner that a worker must have: `"inprocess"`, `"subprocess"` or `"docker"`;
            None for any.
        routing: ranking of the workers that meet the requirement; see `windlass.routing`.
        required_permissions: further permissions that a caller needs.
        queue_timeout: seconds that an execution may wait for a worker before it fails, or a
            timedelta.
        priority: level in the queue, from 0 to 9, of executions whose start names none; None for
            5, and 6 where a caller waits for the end.
        tags: up to 16 labels by which executions are found; a start may add others or replace them.
        timeout: seconds that the execution may take from its first start, over crashes and pauses,
            or a timedelta; 0 means no limit. The body is then cancelled and the execution fails. A
            paused execution fails when it is resumed.
        on_mismatch: what happens when a run makes a call that the log lacks while the log has
            calls that the run did not make: `"pause"`, `"fail"` or `"continue"` without a check.
    """

    name: str | None = None
    namespace: str | None = None
    secret_requests: Sequence[str] = ()
    output_storage: OutputStorage | None = None
    requests: ResourceRequest | None = None
    affinity: Mapping[str, str | float] | None = None
    schedule: Schedule | None = None
    durability: str = "durable"
    runner: str | None = None
    routing: Score | None = None
    required_permissions: Sequence[str] = ()
    queue_timeout: float | timedelta | None = None
    priority: int | None = None
    tags: Mapping[str, str] | None = None
    timeout: float | timedelta = 0
    on_mismatch: str = "pause"

    def __post_init__(self) -> None:
        check_name(self.name)
        check_texts("secret_requests", self.secret_requests)
        check_texts("required_permissions", self.required_permissions)
        check_labels("affinity", self.affinity)
        check_storage(self.output_storage)
        check_queue_timeout(self.queue_timeout)
        check_priority(self.priority)
        check_tags(self.tags)
        object.__setattr__(self, "timeout", to_seconds("timeout", self.timeout))
        _check_classes(self)
        if self.durability not in _DURABILITIES:
            raise ValueError(f"durability must be one of {sorted(_DURABILITIES)}")
        if self.durability == "transient" and self.schedule:
            raise ValueError("a transient workflow cannot have a schedule")
        if self.on_mismatch not in _MISMATCH_MODES:
            raise ValueError(f"on_mismatch must be one of {', '.join(_MISMATCH_MODES)}")
        if self.runner not in _RUNNERS:
            raise ValueError("runner must be one of inprocess, subprocess, docker")
        if self.namespace and not _NAMESPACE.fullmatch(self.namespace):
            raise ValueError(
                f"invalid namespace {self.namespace!r}: use up to 64 of a-z, 0-9, _ and -"
            )


def _check_classes(options: WorkflowOptions) -> None:
    """Checks the options that are objects of this package. Few workflows use their modules."""
    if options.schedule is not None:
        from windlass.domain.schedule import Schedule

        if not isinstance(options.schedule, Schedule):
            raise TypeError(
                f"schedule must be a schedule, such as cron(...), not {options.schedule!r}"
            )
    if options.requests is not None:
        from windlass.domain.resource_request import ResourceRequest

        if not isinstance(options.requests, ResourceRequest):
            raise TypeError(f"requests must be a ResourceRequest, not {options.requests!r}")
    if options.routing is not None:
        from windlass.routing import Score

        if not isinstance(options.routing, Score):
            raise TypeError("routing must be a score(...) of windlass.routing")


class Workflow(Generic[I, O_co]):
    """Async function of an ExecutionContext that a worker runs and continues from its log."""

    def __init__(
        self,
        func: Callable[[ExecutionContext[I]], Awaitable[O_co]]
        | Callable[[ExecutionContext[I]], O_co],
        options: WorkflowOptions,
    ) -> None:
        update_wrapper(self, func)
        self.func: Callable[..., Any] = func
        self.options = options
        name = options.name or str(getattr(func, "__name__", type(func).__name__))
        # The form in which the server keeps names.
        self.name = normalize("NFC", name)
        self.namespace = options.namespace or "default"
        self.qualified_name = f"{self.namespace}/{self.name}"
        self.schedule = options.schedule
        self.requests = options.requests
        self.affinity = options.affinity
        self.secret_requests = options.secret_requests
        self.output_storage = options.output_storage
        self.durability = options.durability
        self.runner = options.runner
        self.routing = options.routing
        self.on_mismatch = options.on_mismatch
        self._input: Decoder | None = None
        self._output: Decoder | None = None

    @property
    def timeout_s(self) -> float:
        """The option `timeout` in seconds; 0 means no limit."""
        return to_seconds("timeout", self.options.timeout)

    async def __call__(self, context: ExecutionContext[I]) -> O_co:
        """Runs the body as part of the current run, and returns its result.

        Outside an execution, as in sources of the reference release, it runs the execution of the
        context in this process until it is settled and returns the context, with log and output.
        """
        from windlass._workflow_body import call_workflow

        return await call_workflow(self, context)

    async def perform(self, context: ExecutionContext[I]) -> Any:
        """Returns the output in the form in which the log holds it: plain, or a reference.

        Raises ValueMismatchError if the input does not fit its annotation.
        """
        from windlass._workflow_body import perform_workflow

        return await perform_workflow(self, context)

    def decode_input(self, value: Any) -> Any:
        """Returns a JSON input as the type of its annotation; a missing input stays None."""
        if value is None:
            return None
        if self._input is None:
            from windlass._decode import input_decoder

            self._input = input_decoder(self.func)
        return self._input(value, "the input of ", self.qualified_name)

    def decode_output(self, value: Any) -> Any:
        """Returns a JSON output as the type of its annotation."""
        from windlass._decode import result_decoder
        from windlass.output_storage import parse_reference

        if parse_reference(value) is not None:
            return value
        if self._output is None:
            self._output = result_decoder(self.func)
        return self._output(value, "the output of ", self.qualified_name)

    def run(self, input: Any = None, *, execution_id: str | None = None) -> LocalExecution[I, O_co]:
        """Runs the workflow in this process, without a server, until it is settled.

        Sleeps and delays take no time. Works in notebooks and where an event loop runs, which it
        blocks; `arun` does not. With the id of a paused execution of this process, that one is
        resumed with `input`; one that has ended is returned as it is. Raises
        ExecutionContextNotFoundError for any other id.
        """
        if execution_id is not None:
            known: LocalExecution[I, O_co] = _local_runs().continue_run(self, execution_id, input)
            return known
        execution: LocalExecution[I, O_co] = _local_runs().run(self, input)
        return execution

    async def arun(self, input: Any = None) -> LocalExecution[I, O_co]:
        """Runs the workflow as `run` does, without blocking the event loop."""
        import asyncio

        return await asyncio.to_thread(self.run, input)

    def resume(self, execution_id: str, input: Any = None) -> LocalExecution[I, O_co]:
        """Resumes a paused execution of this process; `input` is the body of the resume.

        Raises WorkflowNotFoundError if no such execution is paused.
        """
        execution: LocalExecution[I, O_co] = _local_runs().resume(self, execution_id, input)
        return execution


def _local_runs() -> Any:
    # By name and only when needed: the engine imports this module, and tests' libraries with it.
    return importlib.import_module("windlass.testing._local_runs")


class _Decorator:
    """The forms `@workflow`, `@workflow()` and `@workflow.with_options(...)`."""

    @overload
    def __call__(self, func: None = None, /) -> _Configured: ...
    @overload
    def __call__(
        self, func: Callable[[ExecutionContext[I]], Coroutine[Any, Any, O]], /
    ) -> Workflow[I, O]: ...
    @overload
    def __call__(self, func: Callable[[ExecutionContext[I]], O], /) -> Workflow[I, O]: ...
    def __call__(
        self, func: Callable[..., Any] | None = None, /
    ) -> Workflow[Any, Any] | _Configured:
        options = WorkflowOptions()
        return _Configured(options) if func is None else Workflow(func, options)

    @property
    def workflow(self) -> _Decorator:
        """Returns the decorator itself.

        In the package, the name `workflow` is this decorator and hides the module of the same name.
        With this property, `@windlass.workflow.workflow` works after `import windlass.workflow`.
        """
        return self

    def with_options(self, **options: Unpack[WorkflowOptionNames]) -> _Configured:
        """Returns the decorator with options; see `WorkflowOptions`."""
        return _Configured(WorkflowOptions(**options))


class _Configured:
    def __init__(self, options: WorkflowOptions) -> None:
        self._options = options

    @overload
    def __call__(
        self, func: Callable[[ExecutionContext[I]], Coroutine[Any, Any, O]], /
    ) -> Workflow[I, O]: ...
    @overload
    def __call__(self, func: Callable[[ExecutionContext[I]], O], /) -> Workflow[I, O]: ...
    def __call__(self, func: Callable[..., Any], /) -> Workflow[Any, Any]:
        return Workflow(func, self._options)


workflow = _Decorator()
