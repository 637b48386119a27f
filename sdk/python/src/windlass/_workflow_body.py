"""Execution of the body of a workflow, in a run and outside of one."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any, Protocol, TypeVar, cast

from windlass._body import run_body
from windlass._mismatch import CATCH_UP_S
from windlass._parking import no_run
from windlass._run import Run, current_scope, require_scope
from windlass.domain.events import ExecutionEventType
from windlass.domain.execution_context import ExecutionContext
from windlass.errors import ExecutionTimeoutError
from windlass.interceptors import intercept
from windlass.output_storage import OutputStorage

O_co = TypeVar("O_co", covariant=True)


class RunnableBody(Protocol[O_co]):
    """Workflow whose body is run."""

    func: Callable[..., Any]
    durability: str
    on_mismatch: str
    output_storage: OutputStorage | None

    @property
    def timeout_s(self) -> float: ...

    def decode_input(self, value: Any) -> Any:
        """Returns a JSON input as the type of its annotation."""

    async def __call__(self, context: ExecutionContext[Any]) -> O_co:
        """Runs the body as part of the current run."""
        ...


async def call_workflow(workflow: RunnableBody[O_co], context: ExecutionContext[Any]) -> O_co:
    """Runs the body as part of the current run; `Workflow.__call__` describes it."""
    if current_scope.get() is None:
        runs = importlib.import_module("windlass.testing._local_runs")
        return cast("O_co", await asyncio.to_thread(runs.advance, workflow, context))
    result: O_co = await run_body(workflow.func, [context], {}, require_scope())
    return result


async def perform_workflow(workflow: RunnableBody[Any], context: ExecutionContext[Any]) -> Any:
    """Returns the output in the form in which the log holds it; see `Workflow.perform`."""
    run = require_scope().run
    run.guard.mode = workflow.on_mismatch
    run.is_strict = workflow.durability == "strict"
    context.input = workflow.decode_input(context.input)
    proceed = partial(_run_in_time, workflow, context)
    output = await intercept(run.environment.interceptors, proceed)
    if workflow.output_storage is None:
        return output
    store = workflow.output_storage.store
    return (await asyncio.to_thread(store, context.execution_id, output)).to_dict()


async def _run_in_time(workflow: RunnableBody[O_co], context: ExecutionContext[Any]) -> O_co:
    timeout_s = workflow.timeout_s
    if not timeout_s:
        return await workflow(context)
    run = require_scope().run
    started_at = run.find_start(ExecutionEventType.WORKFLOW_STARTED)
    run.deadline = started_at + timedelta(seconds=timeout_s)
    limit = asyncio.timeout(None)
    try:
        async with limit:
            left_s = max(0.0, timeout_s - run.elapsed_s(started_at))
            with _limit_passes_after(left_s, limit, run):
                return await workflow(context)
    except TimeoutError:
        if limit.expired():
            message = f"the execution took longer than {timeout_s} seconds"
            raise ExecutionTimeoutError(timeout_s, message) from None
        raise


@contextmanager
def _limit_passes_after(
    delay_s: float, limit: asyncio.Timeout, run: Run
) -> Generator[None, None, None]:
    """Lets the limit pass, but only after the run has made the calls of the log.

    Otherwise a run after a crash would cancel its code earlier than the run before, in which the
    limit has passed already, and compensate less.
    """
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle | None = None

    def pass_limit() -> None:
        nonlocal timer
        run.is_catching_up = run.guard.is_behind()
        if run.is_catching_up:
            timer = loop.call_later(CATCH_UP_S, pass_limit, context=no_run())
        else:
            run.has_timed_out = True
            limit.reschedule(loop.time())

    run.is_catching_up = delay_s <= 0 and run.guard.is_behind()
    timer = loop.call_later(delay_s, pass_limit, context=no_run())
    try:
        yield
    finally:
        run.is_catching_up = False
        timer.cancel()
