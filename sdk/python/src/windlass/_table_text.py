"""Text of rows in call ids, column by column.

In a call id, a dictionary has the form `{"__dict__":[["key",value],…]}` with its pairs in the order
of their keys; all else is JSON. For rows, which are dictionaries of the same keys, each step is
made for a whole column by functions that run no Python code for a value, and msgspec writes the
JSON: together in a fifth of the time in which Python code visits each value. Rows of which msgspec
would write another text than Python's own encoder are left to that code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, islice, repeat
from math import isfinite
from operator import itemgetter
from typing import Any

import msgspec

from windlass._json import quote_json

MIN_ROWS = 50
MAX_LEVELS = 20
# Rows that exist in both forms at a time. With more, the garbage collector would take longer.
CHUNK = 200

_LISTS: set[type] = {list, tuple}
# Exact types only: subclasses may have another form.
_PLAIN: set[type] = {str, int, float, bool, type(None), *_LISTS}
_NOT_ASCII = re.compile(r"[^\x00-\x7e]+")


class _Row(msgspec.Struct, rename={"pairs": "__dict__"}, gc=False):
    pairs: tuple[Any, ...]


_encode = msgspec.json.Encoder().encode


def table_text(rows: Sequence[Any]) -> list[bytes] | None:
    """Returns the text of rows in a call id in parts, or None if it is not made here.

    Joining the parts would take as long as hashing them.
    """
    if set(map(type, rows)) != {dict} or set(map(type, chain.from_iterable(rows))) != {str}:
        return None
    keys = sorted(rows[0], key=quote_json)
    if set(map(len, rows)) != {len(keys)}:
        return None
    try:
        columns = [list(map(itemgetter(key), rows)) for key in keys]
        if not all(_is_plain(column, 0) for column in columns):
            return None
        pairs = [
            zip(repeat(key), column, strict=False)
            for key, column in zip(keys, columns, strict=True)
        ]
        forms = map(_Row, zip(*pairs, strict=True))
        parts: list[bytes] = []
        while chunk := list(islice(forms, CHUNK)):
            parts += [b"," if parts else b"[", _ascii(_encode(chunk)[1:-1])]
    except (KeyError, ValueError, OverflowError):  # of a row without a key, or of msgspec
        return None
    return [*parts, b"]"]


def _ascii(text: bytes) -> bytes:
    """Returns JSON as Python writes it: in ASCII, and with the last character of that escaped."""
    if text.isascii() and b"\x7f" not in text:
        return text
    return _NOT_ASCII.sub(lambda match: quote_json(match[0])[1:-1], text.decode()).encode()


def _is_plain(column: Sequence[Any], level: int) -> bool:
    """True if msgspec writes all values as Python's own encoder does."""
    kinds = set(map(type, column))
    if not kinds <= _PLAIN or level == MAX_LEVELS:
        return False
    if float in kinds and not _are_plain_numbers(_only(column, kinds, {float})):
        return False
    if not kinds & _LISTS:
        return True
    return _is_plain(list(chain.from_iterable(_only(column, kinds, _LISTS))), level + 1)


def _only(column: Sequence[Any], kinds: set[type], wanted: set[type]) -> Sequence[Any]:
    return column if kinds <= wanted else [value for value in column if type(value) in wanted]


def _are_plain_numbers(numbers: Sequence[float]) -> bool:
    """True if both write the numbers with a point and without an exponent."""
    # The sum of numbers of which one is not finite is not finite either.
    lowest, highest = min(numbers), max(numbers)
    if not isfinite(sum(numbers)) or highest >= 1e16 or lowest <= -1e16:
        return False
    return lowest >= 1e-4 or min(map(abs, filter(None, numbers)), default=1.0) >= 1e-4
