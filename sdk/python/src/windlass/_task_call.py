"""Calls of tasks: their id, name and arguments."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any, Generic, TypeVar

from windlass._call_id import call_key
from windlass._run import Run, Scope

R_co = TypeVar("R_co", covariant=True)

MAX_NAME_LENGTH = 255


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a task without the task's function. `id` is unique in the execution.

    `arguments` are the recorded arguments by name. `plain_size` is 0 unless all are plain JSON
    values; see `CallKey`.
    """

    id: str
    name: str
    key: str
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    arguments: Mapping[str, Any]
    plain_size: int = 0


class Signature:
    """Parameter names of a function; maps the arguments of calls to them."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self._names: list[str] = []
        self._rest: str | None = None
        for name, parameter in inspect.signature(func).parameters.items():
            if parameter.kind in {parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD}:
                self._names.append(name)
            elif parameter.kind is parameter.VAR_POSITIONAL:
                self._rest = name

    def bind_positional(self, args: Sequence[Any]) -> dict[str, Any]:
        """Returns the positional arguments under the names of their parameters."""
        named = dict(zip(self._names, args, strict=False))
        if self._rest:
            named[self._rest] = list(args[len(self._names) :])
        return named


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
    bind_positional = signature.bind_positional(args)
    arguments = {**bind_positional, **kwargs}
    name = _to_valid_name(template.format(*args, **arguments)) if "{" in template else template
    key, plain_size = call_key(name, bind_positional, args, kwargs)
    if receiver:
        arguments = dict(list(arguments.items())[len(receiver) :])
    unique = scope.run.assign_id(scope.path, key)
    return Call(unique, name, key, args, kwargs, arguments, plain_size)


def _to_valid_name(name: str) -> str:
    """Returns a name that a database column can hold: up to 255 characters, without NUL."""
    return name[:MAX_NAME_LENGTH].encode(errors="replace").decode().replace("\0", "?")


class TaskCall(Coroutine[Any, Any, R_co], Generic[R_co]):
    """Awaitable call of a task. Its position among equal calls is fixed when it is created.

    Until it is awaited or closed, its run lists it with the place where it was created.
    """

    __slots__ = ("__windlass_id__", "_coroutine", "_run", "decode", "is_sensitive", "names")

    def __init__(
        self,
        run: Run,
        id: str,
        coroutine: Coroutine[Any, Any, R_co],
        decode: Callable[[Any], Any],
        names: Mapping[str, Any] | None = None,
        *,
        is_sensitive: bool = False,
    ) -> None:
        self.__windlass_id__ = id
        self.decode = decode
        # Globals of the task's module, where exception classes are looked up.
        self.names = names or {}
        self.is_sensitive = is_sensitive
        self._coroutine = coroutine
        self._run = run
        place = find_caller()
        if not run.guard.is_idle:
            run.guard.request(id, place)
        run.unawaited[id] = (self, place)
        run.environment.on_call(id, place)

    def __await__(self) -> Generator[Any, Any, R_co]:
        self._run.unawaited.pop(self.__windlass_id__, None)
        return self._coroutine.__await__()

    def __str__(self) -> str:
        return self.__windlass_id__

    def send(self, value: Any, /) -> Any:
        """Forwards to the coroutine."""
        self._run.unawaited.pop(self.__windlass_id__, None)
        return self._coroutine.send(value)

    def throw(self, *error: Any) -> Any:
        """Forwards to the coroutine."""
        self._run.unawaited.pop(self.__windlass_id__, None)
        return self._coroutine.throw(*error)

    def close(self) -> None:
        """Forwards to the coroutine."""
        self._run.unawaited.pop(self.__windlass_id__, None)
        self._coroutine.close()

    @property
    def is_unawaited(self) -> bool:
        """True if the call has not been awaited yet."""
        return inspect.getcoroutinestate(self._coroutine) == inspect.CORO_CREATED


def find_caller() -> str:
    """Returns file and line of the innermost code outside of this package."""
    frame: FrameType | None = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    while frame and frame.f_globals.get("__name__", "").startswith("windlass."):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "an unknown place"
