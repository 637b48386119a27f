"""Values as JSON text.

A value is encoded the moment it enters the log: the text cannot change any more, whatever the
workflow does to the object afterwards, in whichever thread.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
from datetime import date, datetime, time, timedelta
from enum import Enum
from json.encoder import encode_basestring_ascii
from typing import Any
from uuid import UUID

from windlass.errors import UnserializableError, described

quoted = encode_basestring_ascii


def encode(value: Any) -> str:
    """`value` as compact JSON. Raises UnserializableError for what has no form in it."""
    try:
        try:
            return _compact(value)
        except TypeError:  # a key that JSON cannot have
            return _compact(_plain(value))
    except ValueError as error:
        raise UnserializableError(message=_reason(error)) from error
    except RecursionError as error:
        raise UnserializableError(message="the value is nested too deeply for JSON") from error


def canonical(value: Any) -> str:
    """The one text that equal values share: sorted keys. Ids are hashes of it."""
    try:
        return _sorted(value)
    except TypeError:  # keys of several types have no order
        return _sorted(json.loads(_compact(_plain(value))))


def reduced(value: Any) -> Any:
    """A value that JSON does not know, one step nearer to one that it does."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, BaseException):
        return described(value)
    if inspect.isroutine(value) or isinstance(value, type):
        return value.__name__
    if inspect.iscoroutine(value):
        return value.__qualname__
    if callable(value):
        return type(value).__name__
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "__dict__"):
        return vars(value)
    return str(value)


def loads(text: str | bytes) -> Any:
    """JSON text as values. Numbers too long for Python to be safe with stay text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return json.loads(text, parse_int=_int_or_text)


def sliced(text: str, name: str) -> str | None:
    """The text of one member of a JSON object, untouched; None if it has no such member."""
    decoder = json.JSONDecoder(parse_int=_int_or_text)
    found = None
    at = _skip(text, text.index("{") + 1)
    while text[at] != "}":
        member, at = decoder.raw_decode(text, at)
        start = _skip(text, text.index(":", at) + 1)
        _, end = decoder.raw_decode(text, start)
        if member == name:
            found = text[start:end]
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


_compact = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=reduced).encode
_sorted = json.JSONEncoder(sort_keys=True, default=reduced).encode

# CPython refuses longer ones, because making them takes quadratic time.
_LONGEST_INT_DIGITS = 4300


def _int_or_text(digits: str) -> int | str:
    return int(digits) if len(digits) <= _LONGEST_INT_DIGITS else digits


def _skip(text: str, at: int) -> int:
    while text[at] in " \t\n\r":
        at += 1
    return at


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict):
        return {_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return _plain(reduced(value))


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, Enum):
        return _key(key.value)
    if key is None or isinstance(key, int | float):
        return _compact(key)
    return str(key)


def _reason(error: ValueError) -> str:
    if "Out of range float" in str(error):
        return "NaN and infinite numbers have no form in JSON; return None or a text instead"
    if "Circular reference" in str(error):
        return "the value contains itself, which has no form in JSON"
    return str(error)
