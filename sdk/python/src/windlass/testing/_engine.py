"""Engine for tests: runs workflows in memory, in virtual time."""

from __future__ import annotations

import asyncio
import contextvars
import hashlib
import random
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from unittest.mock import Mock

from windlass._capture import Capture
from windlass._capture import install as install_capture
from windlass._children import track_children
from windlass._entry import Entry, create_entry
from windlass._environment import Environment
from windlass._failures import restore_failure
from windlass._json import encode, loads
from windlass._lifecycle import advance_execution
from windlass._local_lines import LogLine
from windlass._narrow import is_object
from windlass._option_checks import to_seconds
from windlass._parking import WakeCondition
from windlass._run import Run
from windlass._services import Approval
from windlass.domain.events import ExecutionEvent
from windlass.domain.events import ExecutionEventType as E
from windlass.domain.execution_context import ExecutionContext
from windlass.domain.state import ExecutionState
from windlass.errors import ExecutionError
from windlass.interceptors import Interceptor
from windlass.task import Task
from windlass.testing._services import EngineServices, MemoryCache
from windlass.testing._virtual_loop import VirtualLoop
from windlass.workflow import Workflow

T = TypeVar("T")

START = datetime(2026, 1, 1, tzinfo=UTC)
# Longest wait of an execution in `run_until_settled`.
MAX_WAIT = timedelta(days=10_000)

_SETTLED = {
    E.WORKFLOW_PAUSED: ExecutionState.PAUSED,
    E.WORKFLOW_COMPLETED: ExecutionState.COMPLETED,
    E.WORKFLOW_FAILED: ExecutionState.FAILED,
    E.WORKFLOW_CANCELLED: ExecutionState.CANCELLED,
}


_ENDED = {ExecutionState.COMPLETED, ExecutionState.FAILED, ExecutionState.CANCELLED}


class Execution:
    """Execution in the engine. Its attributes are read while the engine is idle."""

    def __init__(self, engine: Engine, workflow: Workflow[Any, Any], id: str, input: Any) -> None:
        self.execution_id = id
        self.workflow = workflow
        self.input = input
        self.state = ExecutionState.CREATED
        self.events: list[ExecutionEvent] = []
        self.progress: list[Any] = []
        # What its code has written with `print` and `logging`.
        self.logs: list[LogLine] = []
        self.approvals: dict[str, Approval] = {}
        # Ended or paused; ended.
        self.settled = asyncio.Event()
        self.ended = asyncio.Event()
        self._engine = engine
        self._run: Run | None = None
        self._task: asyncio.Task[None] | None = None
        self._condition: WakeCondition | None = None

    @property
    def is_parked(self) -> bool:
        """True while it waits without a worker; see `Engine(park_after=...)`."""
        return self._condition is not None

    @property
    def run(self) -> Run:
        """The last run of the workflow's body."""
        if self._run is None:
            raise AssertionError("the execution has not run yet")
        return self._run

    @property
    def paused_on(self) -> str | None:
        """Name of the pause at which the execution waits, or None."""
        pause = self._pause()
        return None if pause is None else str(pause["name"])

    @property
    def pause_output(self) -> Any:
        """Output of the pause at which the execution waits, or None."""
        pause = self._pause()
        return None if pause is None else pause["output"]

    @property
    def output(self) -> Any:
        """Output as JSON, the record of the failure, or None before either."""
        return next(
            (e.value for e in self.events if e.type in {E.WORKFLOW_COMPLETED, E.WORKFLOW_FAILED}),
            None,
        )

    def result(self) -> Any:
        """Returns the output as the type of its annotation.

        Raises the failure of the execution, or AssertionError if it has not ended.
        """
        match self.state:
            case ExecutionState.COMPLETED:
                return self.workflow.decode_output(self.output)
            case ExecutionState.FAILED:
                error = restore_failure(self.output, getattr(self.workflow.func, "__globals__", {}))
                error.add_note(str(self.output.get("traceback") or ""))
                raise error
            case _:
                pass
        where = f" on {self.paused_on!r}" if self.paused_on else ""
        raise AssertionError(f"the execution has not completed: it is {self.state}{where}")

    async def resume(self, body: Any = None) -> None:
        """Resumes the paused execution with a body and runs it until it waits again."""
        await self._engine.run_in_loop(lambda: self._resume(loads(encode(body))))

    async def approve(self, reason: str | None = None, by: str = "approver") -> None:
        """Approves the task at whose approval the execution waits."""
        await self._engine.run_in_loop(lambda: self._decide("approved", reason, by))

    async def reject(self, reason: str | None = None, by: str = "approver") -> None:
        """Rejects the task at whose approval the execution waits."""
        await self._engine.run_in_loop(lambda: self._decide("rejected", reason, by))

    def approve_all(self) -> None:
        """Approves every approval that the execution has requested or will request."""
        awaited = self.pause_output
        call_ids = set(self.approvals)
        if is_object(awaited) and "task_call_id" in awaited:
            call_ids.add(awaited["task_call_id"])
        for call_id in call_ids:
            self.approvals[call_id] = Approval("approved", call_id, None, "approver", "test")

    async def cancel(self) -> None:
        """Cancels the execution."""
        await self._engine.run_in_loop(self.request_cancel)

    def begin(self) -> None:
        """Starts a run from the log. Called in the engine's loop."""
        self.settled.clear()
        self._task = asyncio.get_running_loop().create_task(self._advance())

    def append(self, entry: Entry) -> None:
        """Appends an event as the server would return it."""
        self.events.append(ExecutionEvent.from_wire(loads(entry.text)))
        self.state = entry.state
        if entry.state in _ENDED:
            self.ended.set()

    async def _advance(self) -> None:
        # Copies, as a worker gets from the server: code may change what it got from an earlier run.
        given, *recorded = loads(encode([self.input, *(event.value for event in self.events)]))
        values = zip(self.events, recorded, strict=True)
        context: ExecutionContext[Any] = ExecutionContext(
            execution_id=self.execution_id,
            workflow_name=self.workflow.name,
            workflow_namespace=self.workflow.namespace,
            input=given,
            state=self.state,
            events=[replace(event, value=value) for event, value in values],
        )
        self._run = Run(
            context,
            _Journal(self),
            EngineServices(self._engine, self),
            transient=self.workflow.durability == "transient",
            environment=self._engine.environment,
        )
        self._run.capture = Capture(lambda line: self.logs.append(LogLine.from_json(line)))
        try:
            if self._engine.park_after_s is not None and self.workflow.durability != "transient":
                self._run.parking.enable(self._engine.park_after_s, self._park)
            await advance_execution(self._run, lambda: self.workflow.perform(context))
        except asyncio.CancelledError:
            if self._condition is None:
                raise
        finally:
            if self._condition is None:
                self.settled.set()
                self._engine.on_settled(self)
            else:
                self._engine.wake_on(self._condition, self._wake)

    def _park(self, condition: WakeCondition) -> None:
        assert self._run is not None
        assert self._task is not None
        self._condition = condition
        self._run.close()
        self._task.cancel()

    def _wake(self) -> None:
        """Continues after a wait, as another worker would."""
        if self._condition is not None:
            self._condition = None
            self.begin()

    def _pause(self) -> Any:
        return self.events[-1].value if self.state == ExecutionState.PAUSED else None

    def append_resume(self, body: Any) -> None:
        """Appends the event of a resume, as the server does."""
        self._append_server_event(E.WORKFLOW_RESUMING, body, ExecutionState.RESUMING)

    def _resume(self, body: Any) -> None:
        if self.state != ExecutionState.PAUSED:
            raise AssertionError(f"the execution cannot be resumed: it is {self.state}, not PAUSED")
        self.append_resume(body)
        self.begin()

    def _decide(self, status: Any, reason: str | None, by: str) -> None:
        pending = [
            call_id for call_id, given in self.approvals.items() if given.status == "pending"
        ]
        if not pending or self.state != ExecutionState.PAUSED:
            raise AssertionError("the execution waits for no approval")
        self.approvals[pending[0]] = Approval(status, pending[0], None, by, "test", reason)
        self._resume(None)

    def request_cancel(self) -> None:
        """Cancels the execution, in the loop of its engine."""
        if self.ended.is_set():
            return
        is_unclaimed = self._run is None
        if self.state == ExecutionState.PAUSED or self._condition is not None or is_unclaimed:
            self._condition = None
            if is_unclaimed and self._task is not None:
                self._task.cancel()
                self.settled.set()
            self._append_server_event(E.WORKFLOW_CANCELLED, None, ExecutionState.CANCELLED)
        elif self._run is not None and self._task is not None:
            self._run.request_cancel()
            self._task.cancel()
        self._engine.cancel_children(self)

    def _append_server_event(self, type: E, value: Any, state: ExecutionState) -> None:
        name, now = self.workflow.name, self._engine.now
        self.append(create_entry(type, self.execution_id, name, value, state, time=now))


class _Journal:
    def __init__(self, execution: Execution) -> None:
        self._execution = execution

    def record(self, entry: Entry) -> None:
        self._execution.append(entry)

    async def wait_for_capacity(self) -> None: ...

    async def wait_until_stored(self) -> None: ...


class Engine:
    """Runs workflows in memory. Use it as a context manager, or through the fixture `engine`.

    Attributes:
        secrets: values of secrets by name.
        previous_secrets: values that secrets had before, while they are kept.
        configs: values of configs by name.
        executions: all executions, in the order of their start, sub-workflows included.

    With `park_after` (seconds or a timedelta), executions that wait longer are parked as on a
    server: their run ends, and another one continues from the log when the wait is over. An engine
    that `is_interactive` waits for the network and for threads as long as they take. For
    `interceptors`, see `windlass.interceptors`.
    """

    def __init__(
        self,
        *,
        start: datetime = START,
        seed: int | None = 0,
        park_after: float | timedelta | None = None,
        is_interactive: bool = False,
        interceptors: Sequence[Interceptor] = (),
    ) -> None:
        self.park_after_s = None if park_after is None else to_seconds("park_after", park_after)
        self.secrets: dict[str, Any] = {}
        self.previous_secrets: dict[str, Any] = {}
        self.configs: dict[str, Any] = {}
        self.executions: list[Execution] = []
        self._start = start
        self._random = random.Random(seed)
        self._bodies: dict[Callable[..., Any], Callable[..., Any]] = {}
        self._workflows: dict[str, Workflow[Any, Any]] = {}
        self._awaited: Execution | None = None
        self._children: dict[str, Execution] = {}
        # Parents of the sub-workflows that end with them.
        self._parents: dict[Execution, Execution] = {}
        self._virtual = VirtualLoop(is_interactive=is_interactive)
        self._virtual.loop.set_task_factory(track_children)
        self.environment = Environment(
            clock=lambda: self.now,
            random=self._random,
            uuid4=self._uuid4,
            cache=MemoryCache(),
            bodies=self._bodies,
            interceptors=interceptors,
        )

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def now(self) -> datetime:
        """Virtual time (UTC). It starts at the beginning of 2026."""
        return self._start + timedelta(seconds=self._virtual.now)

    def mock(
        self,
        task: Task[..., Any],
        *,
        returns: Any = None,
        raises: BaseException | type[BaseException] | None = None,
        effect: Callable[..., Any] | Sequence[Any] | None = None,
    ) -> Mock:
        """Replaces the function of a task in this engine; returns the mock with its calls.

        `effect` is a function, asynchronous or not, that gets the arguments and returns the
        result, or a list of the results and exceptions of successive attempts. Results are recorded
        and decoded as those of the task itself.
        """
        mock = Mock(name=task.name, return_value=returns, side_effect=raises or effect)

        async def body(*args: Any, **kwargs: Any) -> Any:
            result = mock(*args, **kwargs)
            return await result if asyncio.iscoroutine(result) else result

        self._bodies[task.func] = body
        return mock

    def register(self, *workflows: Workflow[Any, Any]) -> None:
        """Makes workflows known under their names, for `call("namespace/name")`."""
        self._workflows |= {workflow.qualified_name: workflow for workflow in workflows}

    def find_workflow(self, namespace: str, name: str) -> Workflow[Any, Any] | None:
        """Returns a registered workflow, or None."""
        return self._workflows.get(f"{namespace}/{name}")

    async def start(self, workflow: Workflow[Any, Any], input: Any = None) -> Execution:
        """Starts an execution and runs it until it has ended, is paused, or waits for time."""
        return await self.continue_from(workflow, input, [])

    async def continue_from(
        self, workflow: Workflow[Any, Any], input: Any, events: Sequence[ExecutionEvent]
    ) -> Execution:
        """Continues an execution from its log, as another worker would, and runs it likewise."""
        execution = self._create(workflow, input, f"{len(self.executions) + 1:032x}")
        execution.events = list(events)
        if events and events[-1].type in _SETTLED:
            execution.state = _SETTLED[E(events[-1].type)]
            if execution.state in _ENDED:
                execution.ended.set()
            return execution
        await self.run_in_loop(execution.begin)
        return execution

    def create(self, workflow: Workflow[Any, Any], input: Any, execution_id: str) -> Execution:
        """Creates an execution that `run_until_settled` begins."""
        return self._create(workflow, input, execution_id)

    def create_resumed(
        self, workflow: Workflow[Any, Any], paused: Execution, body: Any
    ) -> Execution:
        """Creates an execution that continues a paused one of another engine with a body."""
        execution = self._create(workflow, paused.input, paused.execution_id)
        execution.events, execution.approvals = list(paused.events), paused.approvals
        execution.logs = list(paused.logs)
        execution.append_resume(body)
        return execution

    async def run_until_settled(self, execution: Execution) -> None:
        """Begins a created execution; runs it, and those that it starts, until they are settled.

        Raises ExecutionError if the execution waits for something that cannot happen.
        """
        await self._settle(execution, execution.begin)
        if not execution.settled.is_set():
            raise ExecutionError(message="the workflow waits for something that never happens")
        for started in self.executions:
            if not started.settled.is_set():
                await self._settle(started, lambda: None)

    async def _settle(self, execution: Execution, begin: Callable[[], None]) -> None:
        self._awaited = execution
        await self._call(begin, MAX_WAIT.total_seconds())
        self._awaited = None

    async def advance(self, duration: float | timedelta) -> None:
        """Lets virtual time pass (seconds or a timedelta): sleeps, retries and timeouts end."""
        seconds = to_seconds("duration", duration)
        await self._call(lambda: None, seconds)

    async def advance_until_settled(self, execution: Execution, limit: timedelta) -> None:
        """Lets virtual time pass until the execution has ended or is paused, at most `limit`."""
        self._awaited = execution
        await self.advance(limit)
        self._awaited = None

    def on_settled(self, execution: Execution) -> None:
        """Stops the clock if `advance_until_settled` waits for this execution."""
        if execution is self._awaited:
            self._virtual.stop_clock()

    def wake_on(self, condition: WakeCondition, wake: Callable[[], None]) -> None:
        """Calls `wake` when the condition is met. Called in the engine's loop."""
        loop = asyncio.get_running_loop()
        if condition.wake_at is not None:
            delay_s = (condition.wake_at - self.now).total_seconds()
            loop.call_later(delay_s, wake, context=contextvars.Context())
        for execution in self.executions:
            if execution.execution_id in condition.wake_on:
                task = loop.create_task(execution.ended.wait(), context=contextvars.Context())
                task.add_done_callback(lambda _: wake(), context=contextvars.Context())

    def start_child(
        self, workflow: Any, input: Any, key: str, parent: Execution | None
    ) -> Execution:
        """Starts a sub-workflow, once for each key. Called in the engine's loop.

        A cancel of `parent` cancels it.
        """
        child = self._children.get(key)
        if child is None:
            # As on a server: an execution that continues elsewhere finds the same id again.
            child_id = hashlib.sha256(key.encode()).hexdigest()[:32]
            child = self._create(workflow, input, child_id)
            self._children[key] = child
            if parent is not None:
                self._parents[child] = parent
            # In an empty context: the child must not count as part of its parent's run.
            contextvars.Context().run(child.begin)
        return child

    def cancel_child(self, execution_id: str) -> None:
        """Cancels a sub-workflow, unless it has ended. Called in the engine's loop."""
        for child in self._children.values():
            if child.execution_id == execution_id:
                child.request_cancel()

    def cancel_children(self, parent: Execution) -> None:
        """Cancels the sub-workflows that end with an execution. Called in the engine's loop."""
        for child in [child for child, of in self._parents.items() if of is parent]:
            child.request_cancel()

    async def run_in_loop(self, func: Callable[[], T]) -> T:
        """Calls a function in the engine's loop and waits until the loop is idle."""
        return await self._call(func)

    async def _call(self, func: Callable[[], T], advance_s: float = 0.0) -> T:
        end_capture = install_capture()
        try:
            result: T = await asyncio.to_thread(self._virtual.call, func, advance_s=advance_s)
            return result
        finally:
            end_capture()

    def close(self) -> None:
        """Ends all executions and the engine's thread."""
        self._virtual.close()

    def _create(self, workflow: Workflow[Any, Any], input: Any, id: str) -> Execution:
        execution = Execution(self, workflow, id, loads(encode(input)))
        self.executions.append(execution)
        return execution

    def _uuid4(self) -> uuid.UUID:
        return uuid.UUID(int=self._random.getrandbits(128), version=4)
