"""Call ids: identify a call by the task's name and arguments.

An id is the same in every run of an execution, on every worker and in every release, so that the
result of the call is found in the log again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from math import isfinite
from operator import itemgetter
from pathlib import PurePath
from types import CoroutineType
from typing import Any, NamedTuple, TypeGuard
from uuid import UUID

from windlass._array_form import array_form
from windlass._identified import Identified
from windlass._json import MAX_LEVELS, TOO_DEEP, convert_nested, quote_json
from windlass._narrow import class_of, is_list, is_object
from windlass._signature import NameOrder
from windlass._table_text import MIN_ROWS, table_text
from windlass.domain.execution_context import ExecutionContext
from windlass.errors import UnserializableError


class CallKey(NamedTuple):
    """Id of a call before it is made unique in its execution.

    `plain_size` is the length of the hashed text, in which arguments may occur twice, if they are
    plain JSON values or calls of tasks; otherwise 0.
    """

    text: str
    plain_size: int


def call_id(
    name: str, by_name: Mapping[str, Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> str:
    """Returns the id of `call_key`."""
    return call_key(name, by_name, args, kwargs).text


def call_key(
    name: str,
    by_name: Mapping[str, Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    names: NameOrder | None = None,
) -> CallKey:
    """Returns `<name>_<16 hex digits>`: the name and a hash of name and arguments.

    `by_name` holds the positional arguments under their parameters' names; `names` is the order of
    these names, if the caller has it and each argument has one. Raises TypeError for an argument
    without a stable identity, and UnserializableError if the arguments are nested too deeply.
    """
    try:
        if names is None or kwargs:
            text = _text_of_scalars(name, by_name, args, kwargs)
        else:
            text = _text_of_positional_scalars(name, names, args)
        if text is None:
            return _hash(name, _PlainText().parts_of(name, by_name, args, kwargs))
        plain_size = len(text)
    except _NotPlain:
        text, plain_size = _full_text([name, by_name, list(args), kwargs]), 0
    return CallKey(f"{name}_{hashlib.sha256(text.encode()).hexdigest()[:16]}", plain_size)


def _hash(name: str, parts: Sequence[str | bytes]) -> CallKey:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else part.encode())
    return CallKey(f"{name}_{digest.hexdigest()[:16]}", sum(map(len, parts)))


def _full_text(content: Any) -> str:
    try:
        return _to_text(_reduce(content))
    except RecursionError as error:
        raise UnserializableError(message=TOO_DEEP) from error


class _NotPlain(Exception):
    """A value is not plain JSON, or deeper than MAX_PLAIN_LEVELS."""


MAX_PLAIN_LEVELS = 50
# Of more arguments the texts are joined before they are hashed.
MAX_PARTS = 16
_LISTS: set[type] = {list, tuple}
# Level of the arguments in the content of an id.
ARGUMENT_LEVEL = 2


def _finite(value: float) -> str:
    if not isfinite(value):
        raise _NotPlain
    return float.__repr__(value)


# Exact types only: subclasses may have another form.
_LEAVES: dict[type, Callable[[Any], str]] = {
    str: quote_json,
    int: int.__repr__,
    bool: lambda value: "true" if value else "false",
    float: _finite,
    type(None): lambda _: "null",
}


def _text_of_scalars(
    name: str, by_name: Mapping[str, Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> str | None:
    """Returns the text of a call whose arguments are no containers, as most are; otherwise None."""
    leaves = _LEAVES
    try:
        values = ",".join([leaves[type(value)](value) for value in args])
        # Quoted names differ before they end, so the order of pairs does not depend on the values.
        named, keywords = (
            sorted([f"[{quote_json(key)},{leaves[type(part)](part)}]" for key, part in of.items()])
            for of in (by_name, kwargs)
        )
    except KeyError:
        return None
    given, more = ",".join(named), ",".join(keywords)
    return f'[{quote_json(name)},{{"__dict__":[{given}]}},[{values}],{{"__dict__":[{more}]}}]'


def order_names(names: Sequence[str]) -> NameOrder:
    """Returns the order of the names of positional arguments."""
    return sorted(((n, f"[{quote_json(name)},") for n, name in enumerate(names)), key=itemgetter(1))


def _text_of_positional_scalars(name: str, names: NameOrder, args: Sequence[Any]) -> str | None:
    """Returns the text of a call without keyword arguments, as `_text_of_scalars`."""
    try:
        values = [_LEAVES[type(value)](value) for value in args]
    except KeyError:
        return None
    given = ",".join([f"{start}{values[n]}]" for n, start in names])
    return f'[{quote_json(name)},{{"__dict__":[{given}]}},[{",".join(values)}],{{"__dict__":[]}}]'


class _PlainText:
    """Writes the same text as `_full_text`, for plain JSON values and calls, in much less time.

    Arguments of megabytes are nearly always such values, and their text is computed in the event
    loop, because the number of a call among equal ones is assigned when it is created.
    """

    def __init__(self) -> None:
        # Dictionaries of the same keys: each key with the text before its value, in their order.
        self._shapes: dict[tuple[Any, ...], list[tuple[str, str]]] = {}
        # Each argument occurs twice in the content of an id: by name and by position.
        self._arguments: dict[int, Sequence[str | bytes]] = {}

    def parts_of(
        self,
        name: str,
        by_name: Mapping[str, Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> list[str | bytes]:
        """Returns the text of `[name, by_name, args, kwargs]` in parts, which are not copied."""
        parts: list[str | bytes] = [f"[{quote_json(name)},", *self._parts_of_dict(by_name), ",["]
        if len(args) > MAX_PARTS:
            parts.append(",".join([self.of(value, ARGUMENT_LEVEL) for value in args]))
        else:
            for n, value in enumerate(args):
                parts += [",", *self._parts_of(value)] if n else self._parts_of(value)
        return [*parts, "],", *self._parts_of_dict(kwargs), "]"]

    def _parts_of_dict(self, value: Mapping[str, Any]) -> list[str | bytes]:
        parts: list[str | bytes] = ['{"__dict__":[']
        for n, (start, key) in enumerate(sorted((f"[{quote_json(key)},", key) for key in value)):
            parts += [f"],{start}" if n else start, *self._parts_of(value[key])]
        return [*parts, "]]}" if value else "]}"]

    def _parts_of(self, argument: object) -> Sequence[str | bytes]:
        parts = self._arguments.get(id(argument))
        if parts is None:
            parts = table_text(argument) if _may_be_rows(argument) else None
            parts = parts or [self.of(argument, ARGUMENT_LEVEL)]
            self._arguments[id(argument)] = parts
        return parts

    def of(self, value: object, level: int) -> str:
        kind = type(value)
        if (leaf := _LEAVES.get(kind)) is not None:
            return leaf(value)
        if level == MAX_PLAIN_LEVELS:
            raise _NotPlain
        return self._of_container(value, kind, level)

    def _of_container(self, value: Any, kind: type, level: int) -> str:
        if kind is dict:
            return self._of_dict(value, level + 1)
        if kind is not list and kind is not tuple:
            if isinstance(value, Identified):
                return f'{{"__id__":{quote_json(value.__windlass_id__)}}}'
            raise _NotPlain
        if _may_be_rows(value) and (rows := table_text(value)) is not None:
            return b"".join(rows).decode()
        items: Sequence[object] = value
        parts: list[str] = [
            leaf(item) if (leaf := _LEAVES.get(type(item))) else self.of(item, level + 1)
            for item in items
        ]
        return f"[{','.join(parts)}]"

    def _of_dict(self, value: dict[Any, object], level: int) -> str:
        keys = tuple(value)
        shape = self._shapes.get(keys)
        if shape is None:
            if any(type(key) is not str for key in keys):
                raise _NotPlain
            shape = sorted(((key, f"[{quote_json(key)},") for key in keys), key=itemgetter(1))
            self._shapes[keys] = shape
        parts: list[str] = []
        for key, start in shape:
            item = value[key]
            leaf = _LEAVES.get(type(item))
            parts.append(start + (leaf(item) if leaf else self.of(item, level)))
        pairs = "],".join(parts)
        return f'{{"__dict__":[{pairs}]]}}' if parts else '{"__dict__":[]}'


def _may_be_rows(value: Any) -> TypeGuard[Sequence[Any]]:
    return type(value) in _LISTS and len(value) >= MIN_ROWS and type(value[0]) is dict


class _Form(dict[str, Any]):
    """Canonical form of a value that JSON does not have. Its members may still be unconverted."""


# One level of a value becomes at most four: form, fields, pairs, pair.
MAX_FORM_LEVELS = 4 * MAX_LEVELS


def _reduce(value: Any) -> Any:
    return convert_nested(value, _to_form, MAX_FORM_LEVELS)


def _to_form(value: Any) -> Any:
    container: Any = value
    if value is None or isinstance(value, str | int | float):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, _Form):
        return value
    if isinstance(value, list | tuple):
        return list(container)
    if isinstance(value, Mapping):
        return _Form(__dict__=sorted(([k, v] for k, v in container.items()), key=_sort_key))
    for kinds, form in _FORMS:
        if isinstance(value, kinds):
            return form(value)
    return _object_form(value)


def _object_form(value: Any) -> Any:
    stable = getattr(value, "__windlass_id__", None)
    if stable is not None:
        return _Form(__id__=stable)
    if hasattr(value, "model_dump"):
        return _Form(__model__=type(value).__qualname__, fields=value.model_dump())
    if inspect.iscoroutine(value):
        return _Form(__coroutine__=value.__qualname__, arguments=_coroutine_arguments(value))
    if isinstance(value, partial):
        return _Form(__partial__=[value.func, value.args, value.keywords])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return _Form(__dataclass__=type(value).__qualname__, fields=fields)
    if callable(value):
        return _Form(__callable__=getattr(value, "__qualname__", type(value).__qualname__))
    if (array := array_form(value)) is not None:
        return _Form(array)
    if hasattr(value, "__dict__"):
        return _Form(__object__=type(value).__qualname__, fields=vars(value))
    kind: Any = class_of(value)
    if (members := getattr(kind, "__attrs_attrs__", None)) is not None:
        fields = {member.name: getattr(value, member.name) for member in members}
        return _Form(__object__=kind.__qualname__, fields=fields)
    raise TypeError(
        f"the argument type {type(value).__qualname__} has no stable identity, "
        "so the call could not be found in the log; pass data instead"
    )


def _coroutine_arguments(coroutine: CoroutineType[Any, Any, Any]) -> dict[str, Any]:
    """Returns the arguments of a coroutine that has not been awaited yet."""
    code, frame = coroutine.cr_code, coroutine.cr_frame
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return {name: frame.f_locals[name] for name in code.co_varnames[:count]} if frame else {}


def _set_form(value: Any) -> Any:
    return _Form(__set__=sorted((_reduce(item) for item in value), key=json.dumps))


def _context_form(context: ExecutionContext[Any]) -> Any:
    """The parts that are the same in every run: state and log grow."""
    return _Form(__context__=[context.workflow_namespace, context.workflow_name, context.input])


_FORMS: tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...] = (
    ((set, frozenset), _set_form),
    ((bytes, bytearray, memoryview), lambda value: _Form(__bytes__=value.hex())),
    (deque, list),
    (complex, lambda value: _Form(__complex__=[value.real, value.imag])),
    (Enum, lambda value: _to_form(value.value)),
    ((datetime, date, time), lambda value: value.isoformat()),
    (timedelta, lambda value: value.total_seconds()),
    ((Decimal, UUID, PurePath), str),
    (ExecutionContext, _context_form),
)


def _sort_key(pair: list[Any]) -> tuple[str, str]:
    key = pair[0]
    if isinstance(key, str):
        return (type(key).__name__, quote_json(key))
    key = _reduce(key)
    return ("dict" if isinstance(key, _Form) else type(key).__name__, json.dumps(key))


_sorted = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def _to_text(value: Any) -> str:
    try:
        return _sorted(value)
    except RecursionError:
        return _to_text_iteratively(value)


def _to_text_iteratively(value: Any) -> str:
    """Returns the same text as `_sorted`, without recursion."""
    parts: list[str] = []
    # Parts to write, the next one last: finished texts, and values to convert.
    todo: list[tuple[str | None, Any]] = [(None, value)]
    while todo:
        text, item = todo.pop()
        if text is not None:
            parts.append(text)
        elif is_object(item):
            todo.append(("}", None))
            for n, name in reversed(list(enumerate(sorted(item)))):
                label = f"{quote_json(name)}:"
                todo += [(None, item[name]), (f",{label}" if n else label, None)]
            parts.append("{")
        elif is_list(item):
            todo.append(("]", None))
            for n, element in reversed(list(enumerate(item))):
                todo += [(None, element), ("," if n else "", None)]
            parts.append("[")
        else:
            parts.append(json.dumps(item))
    return "".join(parts)
