"""Runs user functions: coroutines in the event loop, others in a thread, with a timeout."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor
from datetime import timedelta
from functools import partial
from types import FunctionType
from typing import Any

from windlass._awaitables import maybe_awaitable
from windlass._run import Run, Scope, current_scope, require_scope
from windlass.errors import (
    ExecutionError,
    ExecutionStopped,
    ExecutionTimeoutError,
    PauseRequested,
    is_group,
)
from windlass.interceptors import Interceptor, intercept


async def run_body(
    func: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    scope: Scope,
    timeout_s: float = 0,
    *,
    in_process: bool = False,
    interceptors: Sequence[Interceptor] = (),
) -> Any:
    """Runs `func` and returns its result; `timeout_s` of 0 means no timeout.

    `in_process` runs it in a process of the pool instead of a thread. The timeout includes the time
    of the interceptors.

    Raises ExecutionTimeoutError after `timeout_s` seconds. A CancelledError that does not cancel
    the run itself, and any other BaseException of user code, is raised as ExecutionError.
    """
    call = _call_in_process if in_process else _call
    if interceptors:
        call = partial(_call_intercepted, call, interceptors)
    token = current_scope.set(scope)
    try:
        if not timeout_s:
            return await call(func, args, kwargs)
        deadline = scope.run.environment.clock() + timedelta(seconds=timeout_s)
        scope.attempt.deadline = min(scope.attempt.deadline or deadline, deadline)
        limit = asyncio.timeout(timeout_s)
        try:
            async with limit:
                return await call(func, args, kwargs)
        except TimeoutError:
            if limit.expired():
                raise ExecutionTimeoutError(timeout_s) from None
            raise
    except asyncio.CancelledError as error:
        if scope.is_cancelled or is_task_cancelled():
            raise
        raise ExecutionError(error, "an awaited operation was cancelled") from error
    except BaseException as error:
        if isinstance(error, Exception) or _is_signal(error):
            raise
        # SystemExit and KeyboardInterrupt would end the event loop and with it every other
        # execution; any other one would end the run without a record of the failed task.
        raise ExecutionError(error, f"user code raised {type(error).__name__}") from error
    finally:
        current_scope.reset(token)


def is_cancel_requested(run: Run) -> bool:
    """True if a CancelledError cancels the run, not only something that it awaited."""
    return run.is_cancelled or run.is_closed or is_task_cancelled()


def is_task_cancelled() -> bool:
    """True if a CancelledError cancels the current asyncio task."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _is_signal(error: BaseException) -> bool:
    """True for exceptions that end a run or a coroutine from outside, also in a group."""
    if is_group(error):
        return any(_is_signal(part) for part in error.exceptions)
    return isinstance(
        error, PauseRequested | ExecutionStopped | asyncio.CancelledError | GeneratorExit
    )


async def _call(func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    # Most functions are of this kind. `inspect` takes as long to find out as such a call.
    if type(func) is FunctionType and func.__code__.co_flags & inspect.CO_COROUTINE:
        return await func(*args, **kwargs)
    if _runs_in_loop(func):
        result = func(*args, **kwargs)
    else:
        result = await _call_in_thread(partial(func, *args, **kwargs))
    return await maybe_awaitable(result)


async def _call_intercepted(
    call: Callable[..., Awaitable[Any]],
    interceptors: Sequence[Interceptor],
    func: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Any:
    return await intercept(interceptors, partial(call, func, args, kwargs))


async def _call_in_process(
    func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    scope = require_scope()
    pool = scope.run.environment.processes()
    call = pool.create_call(scope, func, args, kwargs)
    return await _call_in_thread(call.run, pool.executor, call.kill)


async def _call_in_thread(
    func: Callable[[], Any],
    executor: Executor | None = None,
    kill: Callable[[], None] | None = None,
) -> Any:
    """Runs `func` in a thread, of the loop's own executor by default; `kill` ends it early."""
    scope = require_scope()
    context = contextvars.copy_context()

    def call() -> Any:
        # The call may have waited for a free thread until its attempt was over.
        try:
            return None if scope.attempt.is_cancelled else context.run(func)
        except StopIteration as error:
            # A future cannot hold it: its reader would wait forever.
            raise RuntimeError("the function raised StopIteration") from error

    thread = asyncio.get_running_loop().run_in_executor(executor, call)
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        scope.attempt.is_cancelled = True
        if kill is not None:
            kill()
        if not thread.done():
            thread.add_done_callback(_discard_result)
            scope.run.add_thread(scope.call_id, thread)
        raise


def _discard_result(thread: asyncio.Future[Any]) -> None:
    """Reads the exception, or asyncio would warn about an unretrieved one."""
    if not thread.cancelled():
        thread.exception()


def _runs_in_loop(func: Callable[..., Any]) -> bool:
    return (
        inspect.iscoroutinefunction(func)
        or inspect.iscoroutinefunction(getattr(func, "__call__", None))  # noqa: B004
        or hasattr(func, "__windlass_task__")
    )
