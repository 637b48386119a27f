"""Text of rows in call ids: the same as that of each value."""

from __future__ import annotations

from collections import OrderedDict
from decimal import Decimal
from enum import StrEnum
from random import Random
from typing import Any, NamedTuple

import pytest

from windlass._call_id import _full_text, call_key
from windlass._table_text import table_text as table_parts


class Colour(StrEnum):
    RED = "red"


class Pair(NamedTuple):
    a: int


class Text(str):
    __slots__ = ()


ROW = {"name": "Ada", "tags": ["a", "b"], "price": 12.5, "ok": True, "note": None, "id": 7}
TEXTS = ["", "a", 'a"b', "é", "\x7f", "\n\t\b\f\r\x00\x1f", "日本", "\U0001f600", "},{", "\\", "/"]
NUMBERS = [0, -7, 2**53 + 1, 2**63, 2**64, 10**30, 1.0, -0.0, 0.1, 12345.678, 9e15, 1e-4]
KEYS = ["a", "ab", "a b", "A", "_", "a1", "__dict__", "true", "1", "a!", 'a"', "é", "", "~", "\x7f"]


def table_text(rows: Any) -> str | None:
    parts = table_parts(rows)
    return None if parts is None else b"".join(parts).decode()


def value_of(random: Random, depth: int) -> Any:
    kind = random.randrange(4 if depth else 3)
    if kind == 3:
        items = [value_of(random, depth - 1) for _ in range(random.randrange(4))]
        return items if random.random() < 0.7 else tuple(items)
    if kind == 2:
        return random.choice([None, True, False])
    return random.choice(TEXTS if kind else NUMBERS)


def test_text_is_the_full_text_or_none() -> None:
    random = Random(21)
    made = 0
    for _ in range(2000):
        keys = random.sample(KEYS, random.randrange(1, 6))
        rows = [
            {key: value_of(random, 3) for key in random.sample(keys, len(keys))}
            for _ in range(random.randrange(1, 8))
        ]
        text = table_text(rows)
        if text is not None:
            made += 1
            assert text == _full_text(rows)
    assert made > 1900


def test_floats_have_the_full_text_or_none() -> None:
    random = Random(22)
    made = 0
    for _ in range(2000):
        number = random.uniform(-1, 1) * 10.0 ** random.randrange(-8, 20)
        text = table_text([{"a": number}])
        made += text is not None
        assert text in {None, _full_text([{"a": number}])}
    assert made > 1000


def test_more_rows_than_a_chunk_have_the_full_text() -> None:
    rows = [{**ROW, "id": n, "name": f"name {n} é"} for n in range(1001)]
    assert table_text(rows) == _full_text(rows)


@pytest.mark.parametrize(
    "odd",
    [
        Colour.RED,
        Pair(1),
        Text("a"),
        {"a": 1},
        b"a",
        bytearray(b"a"),
        {1},
        frozenset({1}),
        Decimal(1),
        1j,
        float("nan"),
        float("inf"),
        1e16,
        -1e-5,
        "\ud800",
    ],
    ids=repr,
)
def test_rows_with_a_value_of_another_form_are_left(odd: Any) -> None:
    assert table_text([ROW, {**ROW, "note": odd}]) is None
    assert table_text([ROW, {**ROW, "tags": [["a"], [odd, 1]]}]) is None


@pytest.mark.parametrize(
    "odd",
    [
        {**ROW, "more": 1},
        {"name": "Ada"},
        {Text(key): value for key, value in ROW.items()},
        dict.fromkeys([*ROW, 1]),
        OrderedDict(ROW),
        list(ROW),
        None,
    ],
    ids=repr,
)
def test_rows_of_other_keys_are_left(odd: Any) -> None:
    assert table_text([ROW, odd]) is None


def test_rows_whose_keys_are_no_texts_are_left() -> None:
    assert table_text([{1: 2}, {1: 3}]) is None


def test_rows_without_keys_are_left() -> None:
    assert table_text([{}, {}]) is None


def test_rows_that_contain_themselves_are_left() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    assert table_text([{"a": cycle}]) is None


@pytest.mark.parametrize("odd", [{}, {"set": {1, 2}}])
def test_call_with_many_rows_has_the_id_of_the_full_text(odd: dict[str, Any]) -> None:
    rows: list[Any] = [{**ROW, "id": n} for n in range(500)]
    rows[300] |= odd
    arguments = {"rows": {"inner": tuple(rows)}}
    key = call_key("count", arguments, [arguments["rows"]], {})
    full = _full_text(["count", arguments, [arguments["rows"]], {}])
    assert key.plain_size == (0 if odd else len(full))
    assert key.text == call_key("count", {"rows": arguments["rows"]}, [{"inner": rows}], {}).text
