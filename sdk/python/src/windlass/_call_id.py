"""The identity of a call: what it calls, with which arguments.

The id is the same in every run of an execution, on every worker, in every release, and so the
call's result can be found in the log again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from pathlib import PurePath
from types import CoroutineType
from typing import Any
from uuid import UUID


def call_id(
    name: str, by_name: Mapping[str, Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> str:
    """`<name>_<16 hex>`, where the digits stand for the name and the arguments.

    Raises TypeError for an argument whose value cannot be told from another of its kind.
    """
    text = json.dumps(
        [name, _reduced(by_name), _reduced(list(args)), _reduced(kwargs)],
        sort_keys=True,
        separators=(",", ":"),
    )
    return f"{name}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _reduced(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Mapping):
        return {"__dict__": sorted(([_key(k), _reduced(v)] for k, v in value.items()), key=_first)}
    if isinstance(value, list | tuple):
        return [_reduced(item) for item in value]
    for kinds, form in _FORMS:
        if isinstance(value, kinds):
            return form(value)
    return _object(value)


def _object(value: Any) -> Any:
    stable = getattr(value, "__windlass_id__", None)
    if stable is not None:
        return {"__id__": stable}
    if hasattr(value, "model_dump"):
        return {"__model__": type(value).__qualname__, "fields": _reduced(value.model_dump())}
    if inspect.iscoroutine(value):
        return {"__coroutine__": value.__qualname__, "arguments": _reduced(_arguments(value))}
    if isinstance(value, partial):
        return {
            "__partial__": [_reduced(value.func), _reduced(value.args), _reduced(value.keywords)]
        }
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {"__dataclass__": type(value).__qualname__, "fields": _reduced(fields)}
    if callable(value):
        return {"__callable__": getattr(value, "__qualname__", type(value).__qualname__)}
    if hasattr(value, "__dict__"):
        return {"__object__": type(value).__qualname__, "fields": _reduced(vars(value))}
    raise TypeError(
        f"a task cannot take a {type(value).__qualname__}: nothing tells one from another, "
        "so its call could not be found in the log again"
    )


def _arguments(coroutine: CoroutineType[Any, Any, Any]) -> dict[str, Any]:
    """What a coroutine that was not awaited yet was called with."""
    code, frame = coroutine.cr_code, coroutine.cr_frame
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return {name: frame.f_locals[name] for name in code.co_varnames[:count]} if frame else {}


def _set(value: Any) -> Any:
    return {"__set__": sorted((_reduced(item) for item in value), key=json.dumps)}


_FORMS: tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...] = (
    ((set, frozenset), _set),
    ((bytes, bytearray), lambda value: {"__bytes__": value.hex()}),
    (complex, lambda value: {"__complex__": [value.real, value.imag]}),
    (Enum, lambda value: _reduced(value.value)),
    ((datetime, date, time), lambda value: value.isoformat()),
    (timedelta, lambda value: value.total_seconds()),
    ((Decimal, UUID, PurePath), str),
)


def _key(key: Any) -> Any:
    return key if isinstance(key, str) else _reduced(key)


def _first(pair: list[Any]) -> tuple[str, str]:
    return (type(pair[0]).__name__, json.dumps(pair[0]))
