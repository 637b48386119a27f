"""Conversion of values to JSON text.

A value is encoded when it enters the log. The text cannot change any more, whatever the workflow
does to the object afterwards, in whichever thread.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from itertools import accumulate
from json import encoder as json_encoder
from json.encoder import encode_basestring_ascii
from pathlib import PurePath
from typing import Any
from uuid import UUID

from windlass._narrow import is_tuple
from windlass._plain import find_refused, to_display_form, to_json_form
from windlass.errors import UnserializableError

quote_json = encode_basestring_ascii

# The server accepts inputs of 512 levels; the other 8 are for the members of events around them.
MAX_LEVELS = 520

TOO_DEEP = "the value is nested too deeply for JSON; at most 512 levels are recorded"


def encode(value: Any) -> str:
    """Returns `value` as compact JSON.

    Raises UnserializableError if JSON cannot represent it; the message names the place.
    """
    return _encode(value, _compact, to_json_form)


def encode_for_display(value: Any) -> str:
    """Returns `value` as compact JSON; values that JSON lacks become texts. For arguments.

    Raises UnserializableError for numbers that JSON lacks, cycles and values nested too deeply.
    """
    return _encode(value, _compact_display, to_display_form)


def _encode(value: Any, compact: Encoder, form: Callable[[Any], Any]) -> str:
    try:
        try:
            text = compact.encode(value)
        except (TypeError, RecursionError):  # a key that JSON lacks, or too many levels
            text = compact.encode(_to_plain(value, form))
    except Exception as error:  # of a class's own code, too, such as a registered function
        reason = TOO_DEEP if isinstance(error, RecursionError) else str(error)
        message = find_refused(value, form, MAX_LEVELS, TOO_DEEP) or reason
        raise UnserializableError(message=message) from error
    # Most texts are shorter than so many brackets.
    if len(text) > MAX_LEVELS and _count_levels(text) > MAX_LEVELS:
        message = find_refused(value, form, MAX_LEVELS, TOO_DEEP) or TOO_DEEP
        raise UnserializableError(message=message)
    return text


def canonical_json(value: Any) -> str:
    """Returns the one text that equal values share, with sorted keys. Ids are hashes of it."""
    try:
        return _sorted.encode(value)
    except TypeError:  # keys of several types cannot be sorted
        plain = json.loads(_compact_display.encode(_to_plain(value, to_display_form)))
        return _sorted.encode(plain)


def convert_nested(value: Any, form: Callable[[Any], Any], max_levels: int) -> Any:
    """Applies `form` to `value` and to everything inside it, without recursion.

    `form` returns a finished value, or a new list or dict whose items are converted next. Raises
    RecursionError if the result has more than `max_levels` levels.
    """
    root = [value]
    todo: list[tuple[Any, Any, int]] = [(root, 0, 0)]
    while todo:
        holder, place, level = todo.pop()
        container: Any = (converted := form(holder[place]))
        holder[place] = converted
        if isinstance(converted, dict | list):
            if level == max_levels:
                raise RecursionError(TOO_DEEP)
            is_dict = isinstance(converted, dict)
            items: Any = container.items() if is_dict else enumerate(container)
            todo += [(container, at, level + 1) for at, item in items if type(item) not in _SCALARS]
    return root[0]


def loads(text: str | bytes) -> Any:
    """Parses JSON text. Integers of more than 4,300 digits stay strings."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return json.loads(text, parse_int=_int_or_text)


def slice_json(text: str, *path: str | int) -> str | None:
    """Returns the text of the value at `path` unchanged, or None if there is no such value."""
    at = _skip(text, 0)
    for step in path:
        place = _find_member(text, at, step)
        if place is None:
            return None
        at = place
    return text[at : _value_end(text, at)]


def _find_member(text: str, at: int, step: str | int) -> int | None:
    """Returns the offset of an object's member or an array's element, or None."""
    closing = {"{": "}", "[": "]"}.get(text[at])
    at = _skip(text, at + 1)
    here: str | int = -1
    while closing and text[at] != closing:
        if closing == "}":
            here, at = _raw.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        else:
            here = int(here) + 1
        if here == step:
            return at
        at = _skip(text, _value_end(text, at))
        if text[at] == ",":
            at = _skip(text, at + 1)
    return None


def _value_end(text: str, at: int) -> int:
    return _raw.raw_decode(text, at)[1]


class Encoder:
    """JSONEncoder that prepares its fast path once instead of for each value.

    Most values of a log are small: preparing takes longer than encoding them. The fast path does
    not look for cycles; a value that contains itself, like any other that it refuses, is encoded
    again by the JSONEncoder, whose error says what is wrong.
    """

    def __init__(
        self,
        *,
        default: Callable[[Any], Any] | None = None,
        separators: tuple[str, str] = (", ", ": "),
        sort_keys: bool = False,
        allow_nan: bool = True,
    ) -> None:
        self._checked = json.JSONEncoder(
            default=default, separators=separators, sort_keys=sort_keys, allow_nan=allow_nan
        )
        item, key = separators
        default = self._checked.default
        make = getattr(json_encoder, "c_make_encoder", None)
        self._fast: Callable[[Any, int], Sequence[str]] | None = make and make(
            None, default, quote_json, None, key, item, sort_keys, False, allow_nan
        )

    def encode(self, value: Any) -> str:
        """Returns the text of `value`. Raises what JSONEncoder raises."""
        if self._fast is None:  # an interpreter without the accelerator
            return self._checked.encode(value)
        try:
            return "".join(self._fast(value, 0))
        except (TypeError, ValueError, RecursionError):
            return self._checked.encode(value)


_compact = Encoder(allow_nan=False, separators=(",", ":"), default=to_json_form)
_compact_display = Encoder(allow_nan=False, separators=(",", ":"), default=to_display_form)
_sorted = Encoder(sort_keys=True, default=to_display_form)

_SCALARS = frozenset({str, int, float, bool, type(None)})
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_STEPS = dict(zip(b"[{]}", (1, 1, -1, -1), strict=True))
# Quotes stay: two adjacent ones are a string without brackets.
_NO_BRACKETS = bytes(set(range(256)) - {*b'[]{}"'})

# CPython refuses longer ones because parsing them takes quadratic time.
_MAX_INT_DIGITS = 4300


def _int_or_text(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MAX_INT_DIGITS else digits


_raw = json.JSONDecoder(parse_int=_int_or_text)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\n\r":
        at += 1
    return at


def _to_plain(value: Any, form: Callable[[Any], Any]) -> Any:
    def convert(value: Any) -> Any:
        item = container = value
        while not (item is None or isinstance(item, str | int | float | dict | list | tuple)):
            item = container = form(container)
        if isinstance(item, dict):
            return {_to_key(key, form): part for key, part in container.items()}
        return list(container) if isinstance(item, list | tuple) else container

    return convert_nested(value, convert, MAX_LEVELS)


def _count_levels(text: str) -> int:
    """Returns the nesting depth of compact JSON, or an upper bound of it up to MAX_LEVELS."""
    upper_bound = text.count("[") + text.count("{")
    if upper_bound <= MAX_LEVELS:
        return upper_bound
    brackets = _brackets(text).replace(b'""', b"")
    if b'"' in brackets or '\\"' in text:  # some brackets may be inside strings
        brackets = _brackets(_STRING.sub("", text))
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def _brackets(text: str) -> bytes:
    return text.encode().translate(None, _NO_BRACKETS)


def _to_key(key: Any, form: Callable[[Any], Any]) -> str:
    """Returns a key as JSON has it; one whose form is an array or object becomes its JSON text."""
    if isinstance(key, str):
        return key
    if isinstance(key, Enum):
        return _to_key(key.value, form)
    if key is None or isinstance(key, int | float):
        return _compact.encode(key)
    if isinstance(key, timedelta | bytes):
        return _to_key(to_json_form(key), form)
    if form is to_display_form or isinstance(key, _TEXT_KEYS) or _is_literal(key):
        return str(key)
    item: Any = list(key) if is_tuple(key) else form(key)
    return encode(item) if isinstance(item, dict | list) else _to_key(item, form)


def _is_literal(key: Any) -> bool:
    """True for tuples whose text Python reads as the same tuple."""
    if not is_tuple(key) or type(key) is not tuple:
        return False
    return all(type(part) in _SCALARS or _is_literal(part) for part in key)


# Logs have the text of these keys, not their JSON form.
_TEXT_KEYS = (date, time, Decimal, UUID, PurePath)
