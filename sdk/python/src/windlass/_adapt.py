"""Annotations whose values this SDK records in another form than msgspec decodes.

msgspec decodes most annotations without help. Others are replaced by a stand-in, a class that
msgspec does not know, for which it calls `decode` with the JSON value:

- `timedelta`, which is recorded as seconds,
- unions that msgspec refuses, such as those of two classes: the first member that fits,
- enums and literals with values other than texts and integers, and flags, whose members combine,
- dictionaries whose keys are neither texts nor numbers,
- dataclasses, attrs classes, TypedDict and NamedTuple with a field that contains one of these, or
  that `__init__` does not set,
- NewType, and the aliases of `type` statements, that stand for one of these.
"""

from __future__ import annotations

import collections
import types
import typing
from ast import literal_eval
from collections.abc import Callable, Container, Iterable, Mapping, Reversible
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum, Flag
from pathlib import PurePath
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin
from uuid import UUID

import msgspec

from windlass._fields import Field, build, fields_of, is_named_tuple, substitute
from windlass._json import canonical_json, encode, loads
from windlass._plain import registered


class _AnyInstance(type):
    """Makes every value an instance, because msgspec checks what `decode_custom` returns."""

    def __instancecheck__(cls, value: Any) -> bool:
        return True


class StandIn(metaclass=_AnyInstance):
    """Base of the classes that replace annotations."""

    @staticmethod
    def decode(value: Any) -> Any:
        """Returns the object of a JSON value. Raises ValueError, with the place of nested ones."""
        raise NotImplementedError


def adapt(annotation: Any) -> Any:
    """Returns an annotation that `convert` decodes; Any for one that has no JSON form at all."""
    adapted = _Adapter().adapt(annotation)
    return adapted if _is_supported(adapted) else Any


def convert(value: Any, annotation: Any) -> Any:
    """Decodes a JSON value. Raises msgspec.ValidationError, which names the place."""
    return msgspec.convert(value, annotation, str_keys=True, dec_hook=_decode_custom)


def _stand_in(decode: Callable[[Any], Any]) -> type[StandIn]:
    made = _AnyInstance("StandIn", (StandIn,), {"decode": staticmethod(decode)})
    return cast("type[StandIn]", made)


class _Adapter:
    def __init__(self) -> None:
        # Filled before the fields of a class are adapted: they may contain the class.
        self._classes: dict[Any, type[StandIn]] = {}

    def adapt(self, annotation: Any) -> Any:
        if annotation is timedelta:
            return _stand_in(_decode_seconds)
        if (meant := _meant_by(annotation)) is not None:
            return self._adapt_name(annotation, meant)
        if annotation in _CONVERTED:
            annotation = annotation[_ANY[annotation]]
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin in {Union, types.UnionType}:
            return self._adapt_union(arguments)
        if origin is Annotated:
            return Annotated[(self.adapt(arguments[0]), *arguments[1:])]
        if origin in _QUALIFIERS:
            return self.adapt(arguments[0])
        if _is_flag(annotation):
            return _stand_in(lambda value: _decode_flag(value, annotation))
        if origin is Literal or _is_enum(annotation):
            return annotation if _is_supported(annotation) else _one_of_values(annotation)
        if (fields := fields_of(annotation)) is not None:
            return self._adapt_class(annotation, fields)
        return self._adapt_container(annotation, origin, arguments)

    def _adapt_name(self, annotation: Any, meant: Any) -> Any:
        """Adapts what a name stands for, which may contain the name itself."""
        if not _contains_odd(meant, set()):
            return meant
        if annotation in self._classes:
            return self._classes[annotation]
        made: list[Any] = []
        self._classes[annotation] = _stand_in(lambda value: convert(value, made[0]))
        made.append(self.adapt(meant))
        return made[0]

    def _adapt_container(self, annotation: Any, origin: Any, arguments: tuple[Any, ...]) -> Any:
        if origin is None or not arguments:
            return Any if isinstance(annotation, typing.TypeVar) else annotation
        adapted = tuple(map(self.adapt, arguments))
        if (through := _CONVERTED.get(origin)) is not None:
            annotation = through(adapted)
            return _stand_in(lambda value: origin(convert(value, annotation)))
        if _is_mapping(origin) and not _is_key(arguments[0]):
            return _stand_in(lambda value: _decode_mapping(value, *adapted))
        if origin in _ITERABLES:
            return list[adapted]  # type: ignore[valid-type]
        if isinstance(origin, type) and origin.__module__ in {"builtins", "collections.abc"}:
            return types.GenericAlias(origin, adapted)
        return annotation

    def _adapt_union(self, arms: tuple[Any, ...]) -> Any:
        adapted = tuple(map(self.adapt, arms))
        union = Union[adapted]  # type: ignore[valid-type]  # noqa: UP007
        if _is_supported(union):
            return union
        names = [_names_of(arm) for arm in arms]
        pairs = list(zip(adapted, names, strict=True))
        return _stand_in(lambda value: _decode_first(value, pairs))

    def _adapt_class(self, annotation: Any, fields: list[Field]) -> Any:
        if not _contains_odd(annotation, set()):
            return annotation
        if annotation in self._classes:
            return self._classes[annotation]
        made: list[Any] = []
        kind = get_origin(annotation) or annotation
        stand_in = _stand_in(lambda value: build(kind, fields, convert(value, made[0])))
        self._classes[annotation] = stand_in
        made.append(self._struct(kind, fields))
        return stand_in

    def _struct(self, kind: type, fields: list[Field]) -> type[msgspec.Struct]:
        """Returns a class that decodes the fields; their values then make the object."""
        is_array = is_named_tuple(kind)
        members: list[Any] = [
            (f"f{n}", self.adapt(field.annotation), *([] if field.is_required else [msgspec.UNSET]))
            for n, field in enumerate(fields)
        ]
        return msgspec.defstruct(
            kind.__name__,
            members,
            rename={f"f{n}": field.name for n, field in enumerate(fields)},
            array_like=is_array,
            forbid_unknown_fields=is_array,
            kw_only=not is_array,
        )


_QUALIFIERS = {typing.Required, typing.NotRequired, typing.Final, getattr(typing, "ReadOnly", None)}
_QUALIFIERS.discard(None)

_ITERABLES: set[Any] = {Iterable, Container, Reversible}

# Containers that msgspec does not know, made of one that it knows.
_CONVERTED: dict[Any, Callable[[tuple[Any, ...]], Any]] = {
    collections.deque: lambda arguments: types.GenericAlias(list, arguments),
    collections.OrderedDict: lambda arguments: types.GenericAlias(dict, arguments),
    collections.Counter: lambda arguments: types.GenericAlias(dict, (*arguments, int)),
}

# The arguments of these containers where the annotation has none.
_ANY: dict[Any, Any] = {
    collections.deque: Any,
    collections.OrderedDict: (Any, Any),
    collections.Counter: Any,
}


def _meant_by(annotation: Any) -> Any:
    """Returns what a NewType, or the alias of a `type` statement, stands for; otherwise None."""
    if hasattr(annotation, "__supertype__"):
        return annotation.__supertype__
    alias = get_origin(annotation) or annotation
    if type(alias).__name__ != "TypeAliasType":
        return None
    known = dict(zip(alias.__type_params__, get_args(annotation), strict=False))
    return substitute(alias.__value__, known)


def _is_mapping(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _is_enum(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Enum)


def _is_flag(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Flag)


def _is_supported(annotation: Any) -> bool:
    try:
        msgspec.json.Decoder(annotation, dec_hook=_decode_custom)
    except Exception:
        return False
    return True


def _is_key(annotation: Any) -> bool:
    """Returns True if msgspec decodes the keys of JSON objects as this type."""
    if annotation is Any or get_origin(annotation) is Literal:
        return _is_supported(annotation)
    if (meant := _meant_by(annotation)) is not None:
        return _is_key(meant)
    return (
        isinstance(annotation, type)
        and issubclass(annotation, str | int | float | Decimal | UUID | date | time | Enum)
        and annotation is not bool
        and not issubclass(annotation, Flag)
        and _is_supported(annotation)
    )


def _contains_odd(annotation: Any, seen: set[Any]) -> bool:
    """Returns True if an annotation contains something that must be replaced."""
    if annotation is timedelta or _is_flag(annotation):
        return True
    if (meant := _meant_by(annotation)) is not None:
        if annotation in seen:
            return False
        seen.add(annotation)
        return _contains_odd(meant, seen)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal or origin in _CONVERTED or not _is_supported(annotation):
        return not _is_supported(annotation) or origin in _CONVERTED
    if _is_mapping(origin) and not _is_key(arguments[0]):
        return True
    fields = fields_of(annotation)
    if fields is None:
        return any(_contains_odd(part, seen) for part in arguments)
    if annotation in seen:
        return False
    seen.add(annotation)
    return any(_may_be_unset(field, annotation) for field in fields) or any(
        _contains_odd(field.annotation, seen) for field in fields
    )


def _may_be_unset(field: Field, annotation: Any) -> bool:
    """True for a field that `__init__` does not set; msgspec requires it."""
    has_default = field.is_required or field.make_default is not None
    return not has_default and not typing.is_typeddict(get_origin(annotation) or annotation)


def _names_of(annotation: Any) -> frozenset[str] | None:
    """Returns the members that the object of a class may have, or None for any."""
    fields = fields_of(annotation)
    if fields is not None:
        return frozenset(field.name for field in fields)
    model = getattr(annotation, "model_fields", None)
    if model is None or annotation.model_config.get("extra") == "allow":
        return None
    return frozenset(model) | {field.alias for field in model.values() if field.alias}


def _decode_custom(kind: Any, value: Any) -> Any:
    """Decodes a class that msgspec does not know. Raises ValueError or TypeError."""
    kind = get_origin(kind) or kind
    if issubclass(kind, StandIn):
        try:
            return kind.decode(value)
        except msgspec.ValidationError as error:
            # msgspec adds the place of the stand-in to a ValueError only.
            raise ValueError(str(error)) from None
    for known in kind.__mro__:
        if known in registered:
            return registered[known][1](value)
    if isinstance(value, kind):
        return value
    if issubclass(kind, PurePath) and isinstance(value, str):
        return kind(value)
    validate: Any = getattr(cast("Any", kind), "model_validate_json", None)
    if callable(validate):  # pydantic, whose strict models read dates and others only from JSON
        return validate(encode(value))
    raise TypeError(
        f"{kind.__qualname__} has no JSON form; use a dataclass or windlass.values.register"
    )


def _decode_seconds(value: Any) -> timedelta:
    if isinstance(value, str):  # ISO 8601, as other programs may write it
        return msgspec.convert(value, timedelta)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError("Expected seconds of a `duration`")
    return timedelta(seconds=value)


def _decode_flag(value: Any, kind: Any) -> Any:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"Expected `int`, got `{type(value).__name__}`")
    return kind(value)


def _decode_first(value: Any, arms: list[tuple[Any, frozenset[str] | None]]) -> Any:
    """Decodes as the first member that fits; one that would drop members of an object is last."""
    keys: set[str] = set(cast("Any", value)) if isinstance(value, dict) else set()
    drops = [names is not None and not keys <= names for _, names in arms]
    errors: list[str] = []
    for is_late in (False, True):
        for (annotation, _), is_dropping in zip(arms, drops, strict=True):
            if is_dropping is not is_late:
                continue
            try:
                return convert(value, annotation)
            except msgspec.ValidationError as error:
                errors.append(str(error))
    raise ValueError(f"no member of the union fits ({'; '.join(errors)})")


def _decode_mapping(value: Any, key: Any, item: Any) -> dict[Any, Any]:
    items = convert(value, types.GenericAlias(dict, (str, item)))
    return {_decode_key(text, key): part for text, part in items.items()}


def _decode_key(text: str, key: Any) -> Any:
    try:
        return convert(text, key)
    except msgspec.ValidationError as error:
        try:
            return convert(_read_key(text), key)
        except (ValueError, SyntaxError):
            raise ValueError(f"the key {text!r} does not fit its annotation: {error}") from None


def _read_key(text: str) -> Any:
    """Reads a key that is recorded as JSON (null, true, seconds, objects) or as text of a tuple."""
    return literal_eval(text) if text.startswith("(") else loads(text)


def _one_of_values(annotation: Any) -> type[StandIn]:
    """Stands for an enum, or literal, by the recorded form of its values."""
    values = {
        canonical_json(member): member
        for member in (annotation if _is_enum(annotation) else get_args(annotation))
    }

    def decode(value: Any) -> Any:
        try:
            return values[canonical_json(value)]
        except KeyError:
            raise ValueError(f"Invalid enum value {value!r}") from None

    return _stand_in(decode)
