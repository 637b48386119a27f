"""Decoding: recorded JSON values as the types of an annotation."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from types import FunctionType
from typing import Any, get_args, get_origin

import msgspec

from windlass._adapt import adapt, convert
from windlass.errors import ValueMismatchError


class Decoder:
    """Decodes JSON values under one annotation, in every run in the same way.

    Without an annotation, or under one that cannot be resolved, values stay as JSON has them.
    """

    def __init__(self, annotation: Any = Any) -> None:
        unknown = annotation is inspect.Parameter.empty
        self._type = Any if unknown else adapt(annotation)

    def __call__(self, value: Any, what: str, of: str = "") -> Any:
        """Returns the decoded value.

        Raises ValueMismatchError, which names the place and, by the texts `what` and `of`, the
        value.
        """
        kind = self._type
        if kind is Any or (type(value) is kind and kind in _SCALARS):
            return value
        try:
            return convert(value, self._type)
        except msgspec.ValidationError as error:
            raise ValueMismatchError(
                message=f"{what}{of} does not fit its annotation: {_join_places(str(error))}"
            ) from None


def result_decoder(func: Callable[..., Any]) -> Decoder:
    """Returns the decoder of a function's result."""
    annotation = _hint(func, "return")
    if get_origin(annotation) in {Awaitable, Coroutine}:
        annotation = get_args(annotation)[-1]
    return Decoder(annotation)


def input_decoder(func: Callable[..., Any]) -> Decoder:
    """Returns the decoder of a workflow's input: of `Order` in `ExecutionContext[Order]`."""
    parameters = list(inspect.signature(func).parameters)
    arguments = get_args(_hint(func, parameters[0]) if parameters else Any)
    return Decoder(arguments[0] if len(arguments) == 1 else Any)


def _hint(func: Callable[..., Any], name: str) -> Any:
    """Returns one resolved annotation, or Any if a name in it is unknown at run time.

    The others are not resolved: they may name what is imported for type checkers only.
    """
    while isinstance(func, partial):
        func = func.func
    if not inspect.isroutine(func) and not isinstance(func, type):
        func = getattr(func, "__call__", func)  # noqa: B004
    # A method has its annotations and names in its function.
    inner: Any = inspect.unwrap(getattr(func, "__func__", func))
    try:
        annotations = func.__annotations__
        if name not in annotations:
            return Any
        probe: Any = FunctionType(_hint.__code__, getattr(inner, "__globals__", {}))
        probe.__annotations__ = {name: annotations[name]}
        if hasattr(inner, "__type_params__"):
            probe.__type_params__ = inner.__type_params__
        return typing.get_type_hints(probe, include_extras=True)[name]
    except Exception:
        return Any


def _join_places(message: str) -> str:
    """Returns the message with one place: nested values have named theirs first."""
    text = message.rstrip()
    places: list[str] = []
    while (found := _PLACE.search(text)) is not None:
        places.append(found[1])
        text = text[: found.start()]
    return f"{text} - at `${''.join(places)}`" if places else text


# Their values need no conversion under the annotation of their own type.
_SCALARS = {str, int, float, bool}
_PLACE = re.compile(r" - at `\$([^`]*)`$")
