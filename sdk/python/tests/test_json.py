"""Encoding of values as JSON, and its refusals."""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from windlass._json import canonical_json, encode, encode_for_display, loads, slice_json
from windlass.errors import ExecutionError, UnserializableError


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


@dataclass
class Point:
    x: int
    tags: list[str]


@dataclass(slots=True)
class Slotted:
    x: int


class Plain:
    def __init__(self) -> None:
        self.name = "n"


class Called:
    def __call__(self) -> None: ...


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ({"a": [1, 2.5, True, "ä"]}, {"a": [1, 2.5, True, "ä"]}),
        ((1, 2), [1, 2]),
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05+00:00"),
        (date(2026, 1, 2), "2026-01-02"),
        (timedelta(minutes=1.5), 90.0),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Decimal("1.50"), "1.50"),
        (b"x", "eA=="),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({"b", "a"}), ["a", "b"]),
        (range(3), [0, 1, 2]),
        (deque([1]), [1]),
        (Path("/tmp/x"), "/tmp/x"),
        (Point(1, ["a"]), {"x": 1, "tags": ["a"]}),
        (Slotted(1), {"x": 1}),
        (Plain(), {"name": "n"}),
        (ValueError("no"), {"type": "ValueError", "message": "no"}),
        (ExecutionError(KeyError("k")), {"type": "KeyError", "message": "'k'"}),
        (Called(), {}),
        ({1: "a", None: "b", False: "c"}, {"1": "a", "null": "b", "false": "c"}),
        ({(1, 2): "a", Colour.RED: "b"}, {"(1, 2)": "a", "red": "b"}),
        ({"deep": [{UUID(int=2): Plain()}]}, {"deep": [{str(UUID(int=2)): {"name": "n"}}]}),
        (10**30, 10**30),
        ("\ud800", "\ud800"),
    ],
)
def test_value_is_encoded_as_expected(value: Any, expected: Any) -> None:
    assert json.loads(encode(value)) == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            {"rows": [1, {"blob": iter([])}]},
            r"\$\.rows\[1\]\.blob: .* type list_iterator has no",
        ),
        ([Slotted(threading.Lock())], r"\$\[0\]\.x: a value of the type lock has no JSON form"),  # type: ignore[arg-type]
        (Point, r"\$: a value of the type type has no JSON form"),
        (encode, "type function has no JSON form"),
        ({"a": [float("nan")]}, r"\$\.a\[0\]: JSON has no NaN"),
        (re, "type module has no JSON form"),
    ],
)
def test_value_without_a_json_form_is_rejected_with_its_place(value: Any, message: str) -> None:
    with pytest.raises(UnserializableError, match=message):
        encode(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Point, "Point"),
        (encode, "encode"),
        (Called(), "Called"),
        ({"lock": [{1}]}, {"lock": [[1]]}),
    ],
)
def test_arguments_without_a_json_form_are_shown_as_text(value: Any, expected: Any) -> None:
    assert json.loads(encode_for_display(value)) == expected


def test_lock_among_arguments_is_shown_as_text() -> None:
    assert "lock" in json.loads(encode_for_display([threading.Lock()]))[0]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [{"a": -float("inf")}]])
def test_nan_and_infinite_numbers_are_rejected(value: Any) -> None:
    with pytest.raises(UnserializableError, match="no NaN and no infinite numbers"):
        encode(value)


class Owner:
    def __init__(self) -> None:
        self.same = [1, 2]
        self.again = self.same
        self.owner: Any = None


def test_value_that_contains_itself_is_rejected_with_the_place() -> None:
    value: list[Any] = [1]
    value.append(value)
    with pytest.raises(
        UnserializableError, match=r"^\$\.rows\[0\]\[1\]: the value contains itself"
    ):
        encode({"rows": [value]})
    owner = Owner()
    assert loads(encode(owner)) == {"same": [1, 2], "again": [1, 2], "owner": None}
    owner.owner = [owner]
    with pytest.raises(UnserializableError, match=r"^\$\.owner\[0\]: the value contains itself"):
        encode(owner)


def test_number_that_json_lacks_is_found_behind_an_argument_that_is_shown_as_text() -> None:
    with pytest.raises(UnserializableError, match=r"^\$\[1\]: JSON has no NaN"):
        encode_for_display([threading.Lock(), float("nan")])


def test_512_levels_are_encoded_and_100000_levels_are_rejected() -> None:
    assert loads(encode(_nested(512))) == _nested(512)
    with pytest.raises(
        UnserializableError, match=r"^\$(\[0\]){66}.*…: .* too deeply .* 512 levels"
    ):
        encode(_nested(100_000))


def test_canonical_text_does_not_depend_on_key_order() -> None:
    one, other = {"b": 1, "a": {"d": 1, "c": "ä"}}, {"a": {"c": "ä", "d": 1}, "b": 1}
    assert canonical_json(one) == canonical_json(other)
    assert canonical_json({1: "x", "b": 2}) == '{"1": "x", "b": 2}'


@pytest.mark.parametrize(
    "raw",
    [
        "1e400",
        '{"a": 1, "a": 2}',
        "1.0E5",
        '"\\ud800"',
        "9007199254740993",
        "[ 1 , 2 ]",
        "1" * 5000,
    ],
)
def test_sliced_member_keeps_its_text(raw: str) -> None:
    text = f'{{"x": {{"input": 0}} , "input" : {raw}\n, "events": [ ] }}'
    assert slice_json(text, "input") == raw
    assert slice_json(text, "missing") is None


def test_nested_members_and_elements_are_sliced() -> None:
    text = '\n{"a": {"b": 0}, "b" : [ {"c": 1} , {"c" : [1e400 ], "d": "]"}, 3 ] }'
    assert slice_json(text, "b", 1, "c") == "[1e400 ]"
    assert slice_json(text, "b", 1, "d") == '"]"'
    assert slice_json(text, "b", 2) == "3"
    assert slice_json(text, "a", "b") == "0"
    for missing in (("b", 3), ("b", 2, "c"), ("a", "c"), ("b", 0, 0)):
        assert slice_json(text, *missing) is None
    assert slice_json("{}", "a") is None
    assert slice_json("[]", 0) is None


def test_integer_beyond_the_digit_limit_stays_a_string() -> None:
    assert loads('{"n": ' + "1" * 5000 + "}") == {"n": "1" * 5000}


def _nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value
