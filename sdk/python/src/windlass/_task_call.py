"""Calls of tasks: their id, name and arguments."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any, Generic, Protocol, TypeVar

from windlass._call_id import call_key, order_names
from windlass._identified import Identified
from windlass._options import TaskOptions
from windlass._run import Run, Scope
from windlass._signature import NameOrder, Signature

R_co = TypeVar("R_co", covariant=True)

MAX_NAME_LENGTH = 255


# Not frozen, although nothing changes it: each task creates one, in half the time.
@dataclass(slots=True)
class Call:
    """One call of a task without the task's function. `id` is unique in the execution.

    `arguments` are the recorded arguments by name. `plain_size` is 0 unless all are plain JSON
    values or calls; see `CallKey`.
    """

    id: str
    name: str
    key: str
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    arguments: Mapping[str, Any]
    plain_size: int = 0


def identify_call(
    scope: Scope,
    template: str,
    signature: Signature,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    receiver: tuple[Any, ...] = (),
) -> Call:
    """Creates the call with its id. `template` may contain arguments, as in `fetch_{url}`.

    `receiver` holds the object or class of a bound method, which is also the first of `args`. It
    identifies the call but is not one of its recorded arguments.
    """
    by_name = signature.bind_positional(args)
    arguments = {**by_name, **kwargs} if kwargs else by_name
    name = _to_valid_name(template.format(*args, **arguments)) if "{" in template else template
    names = None if kwargs else _order(signature, len(args))
    key, plain_size = call_key(name, by_name, args, kwargs, names)
    if receiver:
        arguments = dict(list(arguments.items())[len(receiver) :])
    unique = scope.run.assign_id(scope.path, key)
    return Call(unique, name, key, args, kwargs, arguments, plain_size)


def _order(signature: Signature, count: int) -> NameOrder | None:
    """Returns the order of the names of so many arguments, which is computed once."""
    orders = signature.orders
    if count not in orders:
        names = signature.names_of(count)
        orders[count] = None if names is None else order_names(names)
    return orders[count]


def _to_valid_name(name: str) -> str:
    """Returns a name that a database column can hold: up to 255 characters, without NUL."""
    return name[:MAX_NAME_LENGTH].encode(errors="replace").decode().replace("\0", "?")


class ResultDecoder(Protocol):
    """Decodes results of a call; a task does."""

    def decode(self, call: Call, value: Any) -> Any:
        """Returns the recorded result of a call as the workflow gets it."""


class CallExecution(Protocol):
    """Execution of a call, which begins when it is awaited."""

    @property
    def func(self) -> Callable[..., Any]: ...

    @property
    def options(self) -> TaskOptions: ...

    @property
    def run(self) -> Run: ...

    @property
    def call(self) -> Call: ...

    @property
    def is_recorded(self) -> bool: ...

    def read_recorded(self) -> Any:
        """Returns or raises the outcome, if `is_recorded`."""

    def decode(self, value: Any) -> Any:
        """Returns the recorded result as the workflow gets it."""

    def execute(self) -> Coroutine[Any, Any, Any]:
        """Returns or raises the outcome."""
        ...


@dataclass(slots=True)
class ProcedureExecution:
    """Execution of a call by a procedure in place of the function of the task."""

    procedure: Callable[[Run, Call, TaskOptions], Coroutine[Any, Any, Any]]
    func: Callable[..., Any]
    options: TaskOptions
    decoder: ResultDecoder
    run: Run
    call: Call
    # It may wait although the log has its outcome.
    is_recorded = False

    def read_recorded(self) -> Any:
        """Is never called."""
        raise NotImplementedError

    def decode(self, value: Any) -> Any:
        """Returns the recorded result as the workflow gets it."""
        return self.decoder.decode(self.call, value)

    def execute(self) -> Coroutine[Any, Any, Any]:
        """Returns or raises the outcome."""
        return self.procedure(self.run, self.call, self.options)


class TaskCall(Identified, Coroutine[Any, Any, R_co], Generic[R_co]):
    """Awaitable call of a task. Its position among equal calls is fixed when it is created.

    Until it is awaited or closed, its run lists it. `place` is the file and line of its creation.
    """

    # Few objects: an execution may create thousands of calls before it awaits them, each of which
    # the garbage collector visits several times.
    __slots__ = ("_coroutine", "_execution", "place")

    def __init__(self, execution: CallExecution, place: str) -> None:
        run, call_id = execution.run, execution.call.id
        self.__windlass_id__ = call_id
        self.place = place
        self._execution = execution
        self._coroutine: Coroutine[Any, Any, R_co] | None = None
        if not run.guard.is_idle:
            run.guard.request(call_id, place)
        run.unawaited[call_id] = self
        run.environment.on_call(call_id, place)

    def __await__(self) -> Generator[Any, Any, R_co]:
        return self.begin().__await__()

    def __str__(self) -> str:
        return self.__windlass_id__

    def begin(self) -> Coroutine[Any, Any, R_co]:
        """Returns the coroutine, which the caller awaits."""
        if self._coroutine is None:
            self._execution.run.unawaited.pop(self.__windlass_id__, None)
            self._coroutine = self._execution.execute()
        return self._coroutine

    def read_recorded(self) -> Any:
        """Returns or raises the outcome, if `is_recorded`, in place of awaiting the call."""
        self._execution.run.unawaited.pop(self.__windlass_id__, None)
        return self._execution.read_recorded()

    def send(self, value: Any, /) -> Any:
        """Forwards to the coroutine."""
        return self.begin().send(value)

    def throw(self, *error: Any) -> Any:
        """Forwards to the coroutine."""
        return self.begin().throw(*error)

    def close(self) -> None:
        """Forwards to the coroutine."""
        self.begin().close()

    def decode(self, value: Any) -> Any:
        """Returns the recorded result as the workflow gets it."""
        return self._execution.decode(value)

    @property
    def is_recorded(self) -> bool:
        """True if the log has the outcome, and nothing else is needed to return it."""
        return self._execution.is_recorded

    @property
    def is_sensitive(self) -> bool:
        """True if its result must not be recorded."""
        return self._execution.options.sensitive

    @property
    def is_unawaited(self) -> bool:
        """True if the call has been neither awaited nor closed yet."""
        return self.__windlass_id__ in self._execution.run.unawaited

    @property
    def names(self) -> Mapping[str, Any]:
        """Globals of the task's module, where exception classes are looked up."""
        return getattr(self._execution.func, "__globals__", {})


def find_caller(depth: int = 2) -> str:
    """Returns file and line of the innermost code outside of this package.

    `depth` is the number of frames of this package that are innermost in any case.
    """
    frame: FrameType | None = sys._getframe(depth)  # pyright: ignore[reportPrivateUsage]
    while frame and frame.f_globals.get("__name__", "").startswith("windlass."):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "an unknown place"
