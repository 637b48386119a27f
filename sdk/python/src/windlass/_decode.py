"""Decoding: recorded JSON values as the types of an annotation."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import PurePath
from typing import Annotated, Any, Union, cast, get_args, get_origin

import msgspec

from windlass._plain import registered
from windlass.errors import ValueMismatchError


class Decoder:
    """Decodes JSON values under one annotation, in every run in the same way.

    Without an annotation, or under one that cannot be resolved, values stay as JSON has them.
    """

    def __init__(self, annotation: Any = Any) -> None:
        adapted = _adapt(annotation)
        self._type = adapted if _is_supported(adapted) else Any

    def __call__(self, value: Any, what: str) -> Any:
        """Returns the decoded value. Raises ValueMismatchError, which names `what` and place."""
        if self._type is Any:
            return value
        try:
            return _convert(value, self._type)
        except msgspec.ValidationError as error:
            raise ValueMismatchError(
                message=f"{what} does not fit its annotation: {error}"
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


class _AnyInstance(type):
    """Makes every value an instance, because msgspec checks what `_decode_custom` returns."""

    def __instancecheck__(cls, value: Any) -> bool:
        return True


class _OneOf(metaclass=_AnyInstance):
    """Stands for a union that msgspec does not support; `arms` are tried in order."""

    arms: tuple[Any, ...] = ()


def _adapt(annotation: Any) -> Any:
    """Replaces what msgspec does not support by classes that `_decode_custom` handles."""
    if annotation is inspect.Parameter.empty or isinstance(annotation, typing.TypeVar):
        return Any
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in {Union, types.UnionType}:
        arms = tuple(map(_adapt, arguments))
        union = Union[arms]  # type: ignore[valid-type]  # noqa: UP007
        return union if _is_supported(union) else _AnyInstance("_OneOf", (_OneOf,), {"arms": arms})
    if origin is Annotated:
        return Annotated[(_adapt(arguments[0]), *arguments[1:])]
    if isinstance(origin, type) and arguments and origin.__module__ in {"builtins", _ABC}:
        return types.GenericAlias(origin, tuple(map(_adapt, arguments)))
    return annotation


_ABC = "collections.abc"


def _is_supported(annotation: Any) -> bool:
    try:
        msgspec.json.Decoder(annotation, dec_hook=_decode_custom)
    except Exception:
        return False
    return True


def _convert(value: Any, annotation: Any) -> Any:
    try:
        return msgspec.convert(value, annotation, str_keys=True, dec_hook=_decode_custom)
    except msgspec.ValidationError as error:
        if "`duration`" not in str(error):
            raise
        # A timedelta is recorded as seconds, which msgspec reads only in lax mode.
        return msgspec.convert(
            value, annotation, str_keys=True, strict=False, dec_hook=_decode_custom
        )


def _decode_custom(kind: type, value: Any) -> Any:
    """Decodes a class that msgspec does not know. Raises ValueError or TypeError."""
    if issubclass(kind, _OneOf):
        return _decode_union(kind, value)
    for known in kind.__mro__:
        if known in registered:
            return registered[known][1](value)
    if isinstance(value, kind):
        return value
    if issubclass(kind, PurePath) and isinstance(value, str):
        return kind(value)
    validate: Any = getattr(cast("Any", kind), "model_validate", None)
    if callable(validate):  # pydantic
        return validate(value)
    raise TypeError(
        f"{kind.__qualname__} has no JSON form; use a dataclass or windlass.values.register"
    )


def _decode_union(kind: type[_OneOf], value: Any) -> Any:
    errors: list[str] = []
    for arm in kind.arms:
        try:
            return _convert(value, arm)
        except msgspec.ValidationError as error:
            errors.append(str(error))
    raise ValueError("no member of the union fits: " + "; ".join(errors))
