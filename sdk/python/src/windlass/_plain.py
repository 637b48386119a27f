"""JSON forms of Python values.

`to_json_form` converts a value one step closer to JSON. Values whose text says nothing about them,
such as generators, locks and open files, have no JSON form.
"""

from __future__ import annotations

import dataclasses
import inspect
import io
import json
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from pathlib import PurePath
from types import ModuleType
from typing import Any, get_args
from uuid import UUID

from windlass._identified import Identified
from windlass._narrow import class_of, is_object
from windlass.domain.execution_context import ExecutionContext
from windlass.errors import describe_error

Encode = Callable[[Any], Any]
Decode = Callable[[Any], Any]

# Codecs of `windlass.values.register` by class.
registered: dict[type, tuple[Encode, Decode]] = {}


def to_json_form(value: Any) -> Any:
    """Converts a value one step closer to JSON. Raises TypeError if it has no JSON form."""
    for kind in type(value).__mro__ if registered else ():
        if kind in registered:
            return registered[kind][0](value)
    for kinds, form in _FORMS:
        if isinstance(value, kinds):
            return form(value)
    value_class: Any = class_of(value)
    if callable(getattr(value_class, "model_dump", None)):  # pydantic
        return value.model_dump(mode="json", by_alias=True, round_trip=_is_exact(value_class))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _members(value, dataclasses.fields(value))
    if (fields := getattr(value_class, "__attrs_attrs__", None)) is not None:
        return _members(value, fields)
    if callable(getattr(value_class, "tolist", None)):  # arrays and numbers of numpy
        array: Any = value
        return array.tolist()
    if hasattr(value, "__dict__") and not isinstance(value, _WITHOUT_FORM):
        return vars(value)
    raise TypeError(f"a value of the type {type(value).__qualname__} has no JSON form")


def _members(value: Any, fields: Any) -> dict[str, Any]:
    """Returns the fields of an object; those that `__init__` does not set may have no value."""
    named = [field.name for field in fields if field.init or hasattr(value, field.name)]
    return {name: getattr(value, name) for name in named}


@lru_cache(1024)
def _is_exact(model: Any) -> bool:
    """True for pydantic models whose JSON must be what they validate, without computed fields.

    A model that forbids further members would refuse its own, also inside of another model; and a
    field `Json` needs its text.
    """
    todo: list[Any] = [model]
    seen: set[int] = set()
    while todo:
        part: Any = todo.pop()
        fields = getattr(part, "model_fields", None) if isinstance(part, type) else None
        if fields is not None and id(part) not in seen:
            seen.add(id(part))
            kind: Any = part
            forbids = kind.model_config.get("extra") == "forbid"
            if forbids and (kind is model or kind.model_computed_fields):
                return True
            if any(_is_json_mark(mark) for field in fields.values() for mark in field.metadata):
                return True
            todo += [field.annotation for field in fields.values()]
        todo += get_args(part)
    return False


def _is_json_mark(mark: Any) -> bool:
    return "Json" in {getattr(mark, "__name__", ""), type(mark).__name__}


def to_display_form(value: Any) -> Any:
    """Converts a value as `to_json_form`, or to a text that shows it. For arguments in the log."""
    if isinstance(value, Identified):
        return value.__windlass_id__
    if inspect.isroutine(value) or isinstance(value, type):
        return value.__name__
    if inspect.iscoroutine(value):
        return value.__qualname__
    if (stable := getattr(value, "__windlass_id__", None)) is not None:
        return str(stable)
    if isinstance(value, ExecutionContext):
        return value.execution_id  # not its log
    if callable(value):
        return type(value).__name__
    try:
        return to_json_form(value)
    except TypeError:
        return str(value)


def find_refused(value: Any, form: Encode, max_levels: int, too_deep: str) -> str | None:
    """Returns the place and reason of the first part that has no JSON form, or None.

    Places are written as in `$.rows[3].blob`. `form` converts as `to_json_form`.
    """
    todo: list[tuple[str, Any, int]] = [("$", value, 0)]
    # The containers around the current part, which may not be among its own parts.
    around: list[Any] = []
    while todo:
        place, part, level = todo.pop()
        del around[level:]
        item = container = part
        try:
            while not isinstance(item, _PLAIN):
                item = container = form(container)
        except Exception as error:
            return f"{_shorten(place)}: {error}"
        if isinstance(item, int) and item.bit_length() > MAX_INT_BITS:
            return f"{_shorten(place)}: an integer of more than 4,300 digits, use text instead"
        if isinstance(item, float) and item - item != 0:
            reason = "JSON has no NaN and no infinite numbers; use None or a string instead"
            return f"{_shorten(place)}: {reason}"
        if not isinstance(item, dict | list | tuple):
            continue
        if any(part is container for container in around):
            return f"{_shorten(place)}: the value contains itself, which JSON cannot represent"
        if level == max_levels:
            return f"{_shorten(place)}: {too_deep}"
        around.append(part)
        if is_object(item):
            if (kind := _find_refused_key(item, form)) is not None:
                return f"{_shorten(place)}: a key of the type {kind} has no JSON form"
            parts = [(f"{place}.{key}", each, level + 1) for key, each in item.items()]
        else:
            parts = [(f"{place}[{n}]", each, level + 1) for n, each in enumerate(container)]
        todo += reversed(parts)
    return None


def _find_refused_key(value: Mapping[Any, Any], form: Encode) -> str | None:
    """Returns the name of the class of the first key that has no JSON form, or None."""
    for key in value:
        item = container = key
        try:
            while not isinstance(item, _PLAIN):
                item = container = form(container)
        except Exception:
            return type(key).__qualname__
    return None


def _shorten(place: str) -> str:
    return place if len(place) <= MAX_PLACE else f"{place[:MAX_PLACE]}…"


def _to_list(value: AbstractSet[Any]) -> list[Any]:
    """Returns the items of a set in an order that is the same in every process."""
    return sorted(value, key=lambda item: json.dumps(item, default=to_json_form, sort_keys=True))


def _format_datetime(value: datetime) -> str:
    offset = value.utcoffset()
    if offset is not None and offset.total_seconds() % 60:
        # RFC 3339 has offsets of whole minutes; before 1900, many zones had others.
        value = value.astimezone(UTC)
    return value.isoformat()


def _to_seconds(value: timedelta) -> float | str:
    """Returns seconds, or ISO 8601 text of centuries whose microseconds a float does not hold."""
    seconds = value.total_seconds()
    with suppress(OverflowError):
        if timedelta(seconds=seconds) == value:
            return seconds
    sign, rest = ("-", -value) if value < timedelta(0) else ("", value)
    return f"{sign}P{rest.days}DT{rest.seconds}.{rest.microseconds:06}S"


def _to_base64(value: bytes | bytearray | memoryview) -> str:
    # A view of every second byte, for example, is not contiguous.
    return b64encode(bytes(value)).decode()


_FORMS: tuple[tuple[type | tuple[type, ...], Encode], ...] = (
    (Enum, lambda value: value.value),
    (datetime, _format_datetime),
    ((date, time), lambda value: value.isoformat()),
    (timedelta, _to_seconds),
    ((UUID, Decimal, PurePath), str),
    ((bytes, bytearray, memoryview), _to_base64),
    (AbstractSet, _to_list),
    (BaseException, describe_error),
    (Mapping, dict),
    ((deque, Sequence), list),
)

# Maximum length of the place of a value in a message, in characters.
MAX_PLACE = 200

# CPython refuses to write longer integers.
MAX_INT_BITS = 14_284

_PLAIN = (str, int, float, type(None), dict, list, tuple)

_WITHOUT_FORM = (type, ModuleType, io.IOBase, type(lambda: None))
