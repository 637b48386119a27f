"""Decoding: recorded JSON values as the types of an annotation."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Awaitable, Callable, Coroutine
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
    annotation = _hints(func).get("return", Any)
    if get_origin(annotation) in {Awaitable, Coroutine}:
        annotation = get_args(annotation)[-1]
    return Decoder(annotation)


def input_decoder(func: Callable[..., Any]) -> Decoder:
    """Returns the decoder of a workflow's input: of `Order` in `ExecutionContext[Order]`."""
    parameters = list(inspect.signature(func).parameters)
    annotation = _hints(func).get(parameters[0], Any) if parameters else Any
    arguments = get_args(annotation)
    return Decoder(arguments[0] if len(arguments) == 1 else Any)


def _hints(func: Callable[..., Any]) -> dict[str, Any]:
    """Returns the resolved annotations, or nothing if a name is unknown at run time."""
    if not inspect.isroutine(func) and not isinstance(func, type):
        func = getattr(func, "__call__", func)  # noqa: B004
    try:
        return typing.get_type_hints(func, include_extras=True)
    except Exception:
        return {}


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
