"""Interceptors: functions of an operator around the code that a worker runs.

An interceptor is an asynchronous function of one parameter, `proceed`. It awaits `proceed()` and
returns the result, or another one, or raises:

    async def measure(proceed: Proceed) -> Any:
        started_at = time.monotonic()
        try:
            return await proceed()
        finally:
            running = current()
            seconds.labels(running.workflow, running.task).observe(time.monotonic() - started_at)

It is called around each attempt of each task, with its fallback and rollback, and around the body
of the workflow in each run; there, `current().task` is empty. A result that it returns for a task
is recorded in place of the function's. Tasks of the SDK, such as `sleep`, and calls whose outcome
is recorded are not intercepted. What happens around a body happens again in each run of it, so an
interceptor must not make the calls of the body depend on anything outside the log.

A worker loads interceptors with `--interceptor MODULE:FUNCTION`, in the processes that run
workflows, and an `Engine` takes them as a parameter. The first one is outermost.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

__all__ = ["Interceptor", "Proceed", "load_interceptor"]

Proceed = Callable[[], Awaitable[Any]]
Interceptor = Callable[[Proceed], Awaitable[Any]]


def load_interceptor(reference: str) -> Interceptor:
    """Imports `module:function`. Raises ValueError with the reason."""
    module_name, _, name = reference.partition(":")
    try:
        found = getattr(importlib.import_module(module_name), name)
    except BaseException as error:
        raise ValueError(f"--interceptor {reference}: {error!r}") from error
    is_async = inspect.iscoroutinefunction(found)
    if not (is_async or inspect.iscoroutinefunction(getattr(found, "__call__", None))):  # noqa: B004
        raise ValueError(f"--interceptor {reference}: not an asynchronous function")
    interceptor: Interceptor = found
    return interceptor


async def intercept(interceptors: Sequence[Interceptor], proceed: Proceed) -> Any:
    """Calls `proceed` inside of all interceptors; the first one is outermost."""
    for interceptor in reversed(interceptors):
        proceed = partial(interceptor, proceed)
    return await proceed()
