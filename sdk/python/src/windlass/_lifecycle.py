"""Lifecycle of a run: from the end of the recorded log to a settled state.

`windlass._replay` describes the algorithm.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from windlass._body import is_cancel_requested
from windlass._children import await_children, await_compensations
from windlass._failures import describe_failure
from windlass._json import encode
from windlass._mismatch import CATCH_UP_S
from windlass._namespace import current_namespace
from windlass._run import Run, Scope, current_scope
from windlass.domain.events import ExecutionEventType as E
from windlass.domain.execution_context import current_context
from windlass.domain.state import ExecutionState
from windlass.errors import (
    ExecutionError,
    ExecutionStopped,
    TransientDurabilityError,
    UnawaitedCallError,
    UnserializableError,
    WorkerProcessCrashed,
    find_pause,
    is_group,
)

Body = Callable[[], Awaitable[Any]]


async def advance_execution(run: Run, body: Body) -> None:
    """Runs the body and records its outcome: one settling event, unless the run was closed."""
    if run.replay.is_finished:
        return
    token = current_scope.set(Scope(run))
    context = current_context.set(run.context)
    namespace = current_namespace.set(run.context.workflow_namespace)
    try:
        await _advance(run, body)
    finally:
        current_namespace.reset(namespace)
        current_context.reset(context)
        current_scope.reset(token)
        run.close()


async def _advance(run: Run, body: Body) -> None:
    try:
        if run.is_transient and not run.is_cancelled:
            _refuse_second_run(run)
        if not run.replay.is_started:
            value = run.context.input
            text = run.input_text or encode(value)
            run.record_workflow(E.WORKFLOW_STARTED, value, ExecutionState.RUNNING, value_text=text)
        output = await body()
        final_event = E.WORKFLOW_COMPLETED, output, ExecutionState.COMPLETED
    except BaseException as error:
        final_event = _to_final_event(run, error)
    run.is_ending = True
    await _end_children(run, final_event[0])
    if run.capture is not None:
        run.capture.end()
    if run.guard.signal is not None and final_event[0] is not E.WORKFLOW_CANCELLED:
        # Whatever the body made of it: it must not end as if there were no mismatch.
        final_event = _to_final_event(run, run.guard.signal)
    elif run.deferred and final_event[0] is not E.WORKFLOW_PAUSED:
        try:
            for compensate in run.deferred:
                await compensate()
        except BaseException as error:
            final_event = _to_final_event(run, error)
    unawaited = _close_unawaited(run)
    if run.is_closed:
        return
    if unawaited and final_event[0] is E.WORKFLOW_COMPLETED:
        final_event = (
            E.WORKFLOW_FAILED,
            describe_failure(unawaited, run.mask),
            ExecutionState.FAILED,
        )
    try:
        run.record_workflow(*final_event)
    except UnserializableError as error:
        failure = describe_failure(error, run.mask)
        run.record_workflow(E.WORKFLOW_FAILED, failure, ExecutionState.FAILED)


async def _end_children(run: Run, outcome: E) -> None:
    """Cancels the code that still runs, and waits for its compensations."""
    guard = run.guard
    if outcome is not E.WORKFLOW_PAUSED and (guard.is_loading or not guard.is_idle):
        await _catch_up(run)
    await await_children(run.children)
    await await_compensations(run)


async def _catch_up(run: Run) -> None:
    """Waits until the code that still runs has come as far as in the run that cancelled it."""
    run.is_catching_up = is_behind = True
    try:
        while is_behind and run.children.find_running() and not (run.is_closed or run.is_cancelled):
            await asyncio.sleep(CATCH_UP_S)
            is_behind = run.guard.is_behind()
    finally:
        run.is_catching_up = False


def _refuse_second_run(run: Run) -> None:
    """Raises WorkerProcessCrashed if another worker may have run the body of a transient run.

    Its tasks are not recorded, so all of them would run again. An earlier claim counts even if the
    log has no WORKFLOW_STARTED: the worker may have died before that was sent.
    """
    if run.replay.is_started or run.replay.claims > 1:
        raise WorkerProcessCrashed(
            message="the worker that ran the transient execution has ended or released it; "
            "such an execution is not run again"
        )


def _close_unawaited(run: Run) -> UnawaitedCallError | None:
    """Closes the calls that were never awaited; returns the error that names the first one."""
    unawaited = list(run.unawaited.values())
    for call in unawaited:
        call.close()
    return UnawaitedCallError(str(unawaited[0]), unawaited[0].place) if unawaited else None


def _to_final_event(run: Run, error: BaseException) -> tuple[E, Any, ExecutionState]:
    pause = find_pause(error)
    if pause and not run.is_transient:
        value = {"name": pause.name, "output": pause.output}
        if pause.refused is not None:
            value["refused"] = pause.refused
        if run.version is not None:
            value["version"] = run.version
        return E.WORKFLOW_PAUSED, value, ExecutionState.PAUSED
    if pause:
        error = TransientDurabilityError(message="a transient run cannot pause")
    if isinstance(error, ExecutionStopped):
        error = error.error
    if isinstance(error, asyncio.CancelledError) and is_cancel_requested(run):
        return E.WORKFLOW_CANCELLED, None, ExecutionState.CANCELLED
    if is_group(error) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if not isinstance(error, Exception):
        error = ExecutionError(error, f"user code raised {type(error).__name__}")
    return E.WORKFLOW_FAILED, describe_failure(error, run.mask), ExecutionState.FAILED
