"""Fields of classes: their annotations, and objects that are made of decoded values."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_origin

import msgspec

from windlass._plain import registered


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a class, with the function that makes its default, if it has one."""

    name: str
    annotation: Any
    is_required: bool
    make_default: Callable[[], Any] | None = None


def fields_of(annotation: Any) -> list[Field] | None:
    """Returns the fields of a dataclass, attrs class, TypedDict or NamedTuple.

    Returns None for other annotations, and for classes with annotations that cannot be resolved.
    """
    kind: Any = get_origin(annotation) or annotation
    if not isinstance(kind, type) or any(known in registered for known in kind.__mro__):
        return None
    members = _members(kind)
    if members is None:
        return None
    try:
        hints = _resolve(kind)
    except Exception:
        return None
    known = _type_arguments(annotation)
    return [
        dataclasses.replace(member, annotation=substitute(hints.get(member.name, Any), known))
        for member in members
    ]


def _resolve(kind: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(kind, include_extras=True)
    except NameError:
        pass
    # Before Python 3.13, the parameters of `class Box[T]` are unknown names in annotations of text.
    hints: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        names = {**vars(base), **{each.__name__: each for each in _parameters(base)}}
        own = {"__module__": base.__module__, "__annotations__": names.get("__annotations__", {})}
        hints |= typing.get_type_hints(type(base.__name__, (), own), None, names, True)
    return hints


def _parameters(kind: Any) -> Sequence[Any]:
    return getattr(kind, "__type_params__", ())


def is_named_tuple(kind: Any) -> bool:
    """Returns True if a class is a NamedTuple."""
    return hasattr(kind, "_field_defaults") and issubclass(kind, tuple)


def build(kind: Any, fields: list[Field], decoded: msgspec.Struct) -> Any:
    """Returns an object of the decoded fields, without calling `__init__`, as msgspec does."""
    values: dict[str, Any] = {}
    for field, value in zip(fields, msgspec.structs.astuple(decoded), strict=True):
        if value is not msgspec.UNSET:
            values[field.name] = value
        elif field.make_default is not None:
            values[field.name] = field.make_default()
    if typing.is_typeddict(kind):
        return values
    if is_named_tuple(kind):
        return kind(**values)
    result = object.__new__(kind)
    if hasattr(kind, "__attrs_pre_init__"):
        kind.__attrs_pre_init__(result)
    for name, value in values.items():
        object.__setattr__(result, name, value)
    for after in ("__attrs_post_init__", "__post_init__"):
        if hasattr(kind, after):
            getattr(kind, after)(result)
    return result


def _members(kind: Any) -> list[Field] | None:
    if typing.is_typeddict(kind):
        required = kind.__required_keys__
        return [Field(name, Any, name in required) for name in kind.__annotations__]
    if is_named_tuple(kind):
        defaults: dict[str, Any] = kind._field_defaults
        names: tuple[str, ...] = kind._fields
        return [Field(name, Any, name not in defaults, _constant(defaults, name)) for name in names]
    if dataclasses.is_dataclass(kind):
        return [_of_dataclass(field) for field in dataclasses.fields(kind)]
    if (attributes := getattr(kind, "__attrs_attrs__", None)) is not None:
        return [_of_attrs(attribute) for attribute in attributes]
    return None


def _constant(defaults: dict[str, Any], name: str) -> Callable[[], Any] | None:
    return (lambda: defaults[name]) if name in defaults else None


def _of_dataclass(field: dataclasses.Field[Any]) -> Field:
    if field.default_factory is not dataclasses.MISSING:
        return Field(field.name, Any, False, field.default_factory)
    if field.default is not dataclasses.MISSING:
        return Field(field.name, Any, False, lambda: field.default)
    return Field(field.name, Any, field.init)


def _of_attrs(attribute: Any) -> Field:
    default = attribute.default
    if callable(factory := getattr(default, "factory", None)) and not default.takes_self:
        return Field(attribute.name, Any, False, factory)
    if type(default).__name__ == "_Nothing":
        return Field(attribute.name, Any, attribute.init)
    return Field(attribute.name, Any, False, lambda: default)


def _type_arguments(annotation: Any) -> dict[Any, Any]:
    """Returns the arguments of type parameters, also of the bases of a generic class."""
    origin = get_origin(annotation)
    kind: Any = origin or annotation
    parameters = getattr(kind, "__parameters__", ())
    known = dict(zip(parameters, get_args(annotation), strict=False)) if origin else {}
    for base in getattr(kind, "__orig_bases__", ()):
        if get_origin(base) is not typing.Generic:
            for parameter, argument in _type_arguments(base).items():
                known.setdefault(parameter, substitute(argument, known))
    return known


def substitute(annotation: Any, known: dict[Any, Any]) -> Any:
    """Returns an annotation with the known arguments in place of type parameters."""
    if annotation in known:
        return known[annotation]
    parameters = getattr(annotation, "__parameters__", ())
    if not known or not parameters or isinstance(annotation, type):
        return annotation
    return annotation[tuple(known.get(parameter, parameter) for parameter in parameters)]
