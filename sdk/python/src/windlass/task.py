"""The `task` decorator."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import replace
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar, Unpack, overload

from windlass._options import TaskMetadata, TaskOptionNames, TaskOptions
from windlass._run import Run, require_scope
from windlass._task_call import Call, Signature, TaskCall, identify_call
from windlass._task_execution import TaskExecution

__all__ = ["Task", "TaskMetadata", "TaskOptions", "task"]

P = ParamSpec("P")
R = TypeVar("R")

Procedure = Callable[[Run, Call], Coroutine[Any, Any, Any]]


class Task(Generic[P, R]):
    """Function whose calls are recorded in the execution's log.

    A call whose result is recorded is not executed again: later runs return the recorded result.
    """

    __windlass_task__ = True

    def __init__(
        self,
        func: Callable[P, Awaitable[R]],
        options: TaskOptions,
        *,
        restore: Callable[[Any], R] | None = None,
        procedure: Procedure | None = None,
    ) -> None:
        update_wrapper(self, func)
        self.func: Callable[..., Any] = func
        self.options = options
        self.name = options.name or str(getattr(func, "__name__", type(func).__name__))
        self._restore = restore
        self._procedure = procedure or self._execute
        self._signature = Signature(func)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R]:
        """Creates a call to be awaited. Its position among equal calls is fixed now."""
        scope = require_scope()
        call = identify_call(scope, self.name, self._signature, args, kwargs)
        return TaskCall(call.id, self._procedure(scope.run, call))

    def with_options(self, **options: Unpack[TaskOptionNames]) -> Task[P, R]:
        """Returns a copy of the task with some options changed; see `TaskOptions`."""
        return Task(self.func, replace(self.options, **options), restore=self._restore)

    async def map(self: Task[[Any], R], items: Iterable[Any]) -> list[R]:
        """Calls the task once per item, concurrently; returns the results in item order."""
        return await asyncio.gather(*[self(item) for item in items])

    async def _execute(self, run: Run, call: Call) -> Any:
        return await TaskExecution(
            self.func, self.options, self._restore, self.name, run, call
        ).execute()


class _Decorator:
    """The forms `@task`, `@task()` and `@task.with_options(...)`."""

    @overload
    def __call__(self, func: None = None, /) -> _Configured: ...
    @overload
    def __call__(self, func: Callable[P, Awaitable[R]], /) -> Task[P, R]: ...
    @overload
    def __call__(self, func: Callable[P, R], /) -> Task[P, R]: ...
    def __call__(self, func: Callable[..., Any] | None = None, /) -> Task[..., Any] | _Configured:
        return _Configured(TaskOptions()) if func is None else Task(func, TaskOptions())

    @property
    def task(self) -> _Decorator:
        """Returns the decorator itself.

        In the package, the name `task` is this decorator and hides the module of the same name.
        With this property, `@windlass.task.task` works after `import windlass.task`.
        """
        return self

    def with_options(self, **options: Unpack[TaskOptionNames]) -> _Configured:
        """Returns the decorator with options; see `TaskOptions`."""
        return _Configured(TaskOptions(**options))


class _Configured:
    def __init__(self, options: TaskOptions) -> None:
        self._options = options

    @overload
    def __call__(self, func: Callable[P, Awaitable[R]], /) -> Task[P, R]: ...
    @overload
    def __call__(self, func: Callable[P, R], /) -> Task[P, R]: ...
    def __call__(self, func: Callable[..., Any], /) -> Task[..., Any]:
        return Task(func, self._options)


task = _Decorator()
