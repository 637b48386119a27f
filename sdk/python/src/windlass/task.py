"""The `task` decorator."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from copy import copy
from functools import cache, update_wrapper
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Self,
    TypeVar,
    Unpack,
    cast,
    overload,
)

from windlass._options import TaskMetadata, TaskOptionNames, TaskOptions
from windlass._signature import Signature
from windlass._task_checks import check_task

if TYPE_CHECKING:
    from windlass._decode import Decoder
    from windlass._run import Run
    from windlass._task_call import Call

__all__ = ["Task", "TaskMetadata", "TaskOptions", "task"]

A = TypeVar("A")
P = ParamSpec("P")
P2 = ParamSpec("P2")
R = TypeVar("R")
R2 = TypeVar("R2")

Decode = Callable[["Call", Any], Any]
Procedure = Callable[["Run", "Call", TaskOptions], Coroutine[Any, Any, Any]]


class Task(Generic[P, R]):
    """Function whose calls are recorded in the execution's log.

    A call whose result is recorded is not executed again: later runs return the recorded result.
    Methods, class methods and static methods can be tasks. The instance or class is then part of
    the call's identity by its value, so it must consist of data, or have an attribute
    `__windlass_id__` with an identity that is the same in every run.
    """

    __windlass_task__ = True

    def __init__(
        self,
        func: Callable[P, Awaitable[R]],
        options: TaskOptions,
        *,
        decode: Decode | None = None,
        procedure: Procedure | None = None,
    ) -> None:
        update_wrapper(self, func)
        self._kind = type(func)
        inner: Callable[..., Any] = func
        if isinstance(func, classmethod | staticmethod):
            inner = cast("Any", func).__func__
        self.func = inner
        self.options = options
        self.name = options.name or str(getattr(inner, "__name__", type(inner).__name__))
        # The object or class of a bound method.
        self.receiver: tuple[Any, ...] = ()
        # Executes a call in place of a `TaskExecution` of the function.
        self.procedure = procedure
        self.signature = Signature(inner)
        self._decode = decode
        self._decoder: Decoder | None = None
        check_task(inner, options)

    @overload
    def __get__(self, instance: None, owner: type) -> Task[P, R]: ...
    @overload
    def __get__(
        self: Task[Concatenate[Any, P2], R2], instance: object, owner: type | None = None
    ) -> Task[P2, R2]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Task[..., Any]:
        """Binds the task to the object or class of which it is a method."""
        if issubclass(self._kind, classmethod):
            return self._bind(type(instance) if owner is None else owner)
        if instance is None or issubclass(self._kind, staticmethod):
            return self
        return self._bind(instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Coroutine[None, None, R]:
        """Creates a call to be awaited. Its position among equal calls is fixed now."""
        # The return type has None where asyncio's coroutines have Any: an Any would make the
        # overloads of `parallel` ambiguous to type checkers.
        return _creator()(self, args, kwargs)

    def with_options(self, **options: Unpack[TaskOptionNames]) -> Self:
        """Returns a copy of the task with some options changed; see `TaskOptions`."""
        changed = copy(self)
        changed.options = self.options.replace(**options)
        check_task(self.func, changed.options)
        changed.name = changed.options.name or self.name
        return changed

    async def map(
        # A function of one parameter, or of more with defaults.
        self: Callable[[A], Awaitable[R2]],  # pyright: ignore[reportGeneralTypeIssues]
        items: Iterable[A],
        *,
        limit: int | None = None,
    ) -> list[R2]:
        """Calls the task once per item, concurrently; returns the results in item order.

        Limit, failures and pauses are those of `parallel`.
        """
        from windlass._branches import map_items

        return await map_items(self, items, limit)

    def _bind(self, receiver: Any) -> Task[..., Any]:
        bound: Task[..., Any] = copy(self)
        bound.receiver = (receiver,)
        return bound

    def decode(self, call: Call, value: Any) -> Any:
        """Returns the recorded result of a call as the type of the task's annotation."""
        if self._decode is not None:
            return self._decode(call, value)
        if self._decoder is None:
            from windlass._decode import result_decoder

            self._decoder = result_decoder(self.func)
        return self._decoder(value, "the result of ", call.id)


@cache
def _creator() -> Callable[..., Coroutine[None, None, Any]]:
    """Imports what runs tasks, with asyncio: their definition does not need it."""
    from windlass._create_call import create_call

    return create_call


class _Decorator:
    """The forms `@task`, `@task()` and `@task.with_options(...)`."""

    @overload
    def __call__(self, func: None = None, /) -> _Configured: ...
    # Coroutine, not Awaitable: mypy finds two overloads ambiguous that match a function with Any in
    # its parameters, unless the types of what they take are then equal.
    @overload
    def __call__(self, func: Callable[P, Coroutine[Any, Any, R]], /) -> Task[P, R]: ...
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
        return _Configured(TaskOptions().replace(**options))


class _Configured:
    def __init__(self, options: TaskOptions) -> None:
        self._options = options

    @overload
    def __call__(self, func: Callable[P, Coroutine[Any, Any, R]], /) -> Task[P, R]: ...
    @overload
    def __call__(self, func: Callable[P, R], /) -> Task[P, R]: ...
    def __call__(self, func: Callable[..., Any], /) -> Task[..., Any]:
        return Task(func, self._options)


task = _Decorator()
