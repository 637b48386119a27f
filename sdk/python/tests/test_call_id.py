"""Call ids: stable everywhere, different for different calls."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath
from random import Random
from typing import Any
from uuid import UUID

import attrs
import pytest

from windlass import ExecutionContext, ExecutionEvent
from windlass._call_id import (
    _full_text,
    _NotPlain,
    _PlainText,
    _text_of_positional_scalars,
    _text_of_scalars,
    call_id,
    call_key,
    order_names,
)
from windlass._identified import Identified


class Colour(Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    y: int


class Plain:
    def __init__(self, x: int) -> None:
        self.x = x


@attrs.define
class Slotted:
    x: Any


async def helper(n: int) -> int:
    return n


@pytest.mark.parametrize(
    ("name", "by_name", "args", "kwargs", "expected"),
    [
        ("add", {"a": 1, "b": 2}, [1, 2], {}, "add_779e24a6be22ee69"),
        ("now", {}, [], {}, "now_810b836b283e6f3d"),
        ("pause", {"name": "one"}, ["one"], {"output": {"q": 1}}, "pause_904a964f0b5166c4"),
    ],
)
def test_call_ids_equal_those_of_the_reference_release(
    name: str, by_name: dict[str, Any], args: list[Any], kwargs: dict[str, Any], expected: str
) -> None:
    assert call_id(name, by_name, args, kwargs) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ((1, 2), [1, 2]),
        ({3, 1, 2}, {1, 2, 3}),
        (Colour.RED, "red"),
        (Point(1, 2), Point(1, 2)),
        (Plain(1), Plain(1)),
        (Slotted(1), Slotted(1)),
        (deque([1, 2]), deque([1, 2])),
        (memoryview(b"a"), b"a"),
        (timedelta(minutes=1), 60.0),
        (PurePosixPath("/a"), "/a"),
        (Decimal("1.50"), "1.50"),
        (UUID(int=1), str(UUID(int=1))),
        (date(2026, 1, 2), "2026-01-02"),
        (helper, helper),
    ],
)
def test_equal_arguments_have_equal_ids(one: object, other: object) -> None:
    assert _id(one) == _id(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, 2], [2, 1]),
        (b"\x01", "01"),
        (Point(1, 2), Point(2, 1)),
        (Plain(1), Plain(2)),
        (Slotted(1), Slotted(2)),
        (Slotted(Point(1, 2)), Slotted(Point(1, 3))),
        (deque([1]), deque([2])),
        (1 + 2j, 1 + 3j),
        ({1: "x"}, {"1": "x"}),
        (datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 2)),
        (None, "None"),
    ],
)
def test_different_arguments_have_different_ids(one: object, other: object) -> None:
    assert _id(one) != _id(other)


def test_coroutine_arguments_are_identified_by_their_own_arguments() -> None:
    one, same, other = helper(1), helper(1), helper(2)
    try:
        assert _id(one) == _id(same) != _id(other)
    finally:
        for coroutine in (one, same, other):
            coroutine.close()


def test_argument_without_stable_identity_raises_type_error() -> None:
    with pytest.raises(TypeError, match="no stable identity"):
        _id(threading.Lock())


def _id(value: object) -> str:
    return call_id("f", {"x": value}, [value], {})


ODD = [{1: "a"}, {"a": {1, 2}}, b"x", Decimal(1), Colour.RED, Point(1, 2), float("inf")]


def random_value(random: Random, depth: int, *, odd: bool) -> Any:
    kind = random.randrange(6 if depth else 5)
    if odd and random.random() < 0.05:
        return random.choice(ODD)
    if kind == 5:
        size = random.randrange(4)
        items = [random_value(random, depth - 1, odd=odd) for _ in range(size)]
        keys = [random.choice(['"', "a", "é\n", "~", "ab", "\udc00", "A b", " "]) for _ in items]
        if random.random() < 0.5:
            return dict(zip(keys, items, strict=True))
        return items if random.random() < 0.5 else tuple(items)
    return random.choice([None, True, 0, -7, 10**30, 1.5, 1e300, -0.0, "", 'a"b', "日本"])


@pytest.mark.parametrize("odd", [False, True])
def test_fast_text_of_plain_values_is_the_full_text(odd: bool) -> None:
    random = Random(12)
    fast = 0
    for _ in range(3000):
        value = random_value(random, 5, odd=odd)
        content = ["task", {"value": value}, [value], {"key": value}]
        try:
            text = _PlainText().of(content, 0)
        except _NotPlain:
            assert odd
            continue
        fast += 1
        assert text == _full_text(content)
    assert fast > 1000


@pytest.mark.parametrize("count", [0, 1, 3, 40])
def test_parts_of_a_call_are_the_full_text(count: int) -> None:
    random = Random(count)
    for _ in range(300):
        args = [random_value(random, 4, odd=False) for _ in range(count)]
        names = random.sample(["a", "ab", "z", "é", "A", "_b", "a1"], min(count, 7))
        by_name = dict(zip(names, args, strict=False))
        kwargs = {"more": args[:1]} if random.random() < 0.5 else {}
        parts = _PlainText().parts_of("task", by_name, args, kwargs)
        text = b"".join(part if isinstance(part, bytes) else part.encode() for part in parts)
        assert text.decode() == _full_text(["task", by_name, args, kwargs])


def test_text_of_scalar_arguments_is_the_full_text() -> None:
    random = Random(13)
    scalars = [None, True, 0, -7, 10**30, 1.5, 1e300, -0.0, "", 'a"b', "日本", "\udc00"]
    keys = ['"', "a", "é\n", "~", "ab", "A b", " ", "a b"]
    for _ in range(2000):
        by_name, kwargs = (
            {key: random.choice(scalars) for key in random.sample(keys, random.randrange(5))}
            for _ in range(2)
        )
        args = list(by_name.values())
        text = _text_of_scalars("ta\nsk", by_name, args, kwargs)
        assert text == _full_text(["ta\nsk", by_name, args, kwargs])
    assert _text_of_scalars("task", {}, [], {"key": []}) is None


def test_text_of_positional_scalars_is_the_full_text() -> None:
    random = Random(14)
    scalars = [None, True, 0, -7, 10**30, 1.5, 1e300, -0.0, "", 'a"b', "日本", "\udc00"]
    keys = ["a", "ab", "z", "é", "A", "_b", "a1"]
    for _ in range(2000):
        names = random.sample(keys, random.randrange(6))
        args = [random.choice(scalars) for _ in names]
        text = _text_of_positional_scalars("ta\nsk", order_names(names), args)
        by_name = dict(zip(names, args, strict=True))
        assert text == _full_text(["ta\nsk", by_name, args, {}])
    assert _text_of_positional_scalars("task", order_names(["a"]), [[]]) is None


class Named(Identified):
    def __init__(self, id: str) -> None:
        self.__windlass_id__ = id


@pytest.mark.parametrize("odd", [[], [b"x"]])
def test_objects_with_an_identity_have_the_same_text_in_the_fast_and_the_full_form(
    odd: list[Any],
) -> None:
    calls = [Named('a"é'), [Named("b"), {"c": Named("d")}], *odd]
    content = ["parallel", {"calls": calls}, calls, {}]
    full = _full_text(content)
    assert full.count('{"__id__":"d"}') == 2
    if odd:
        with pytest.raises(_NotPlain):
            _PlainText().of(content, 0)
    else:
        assert _PlainText().of(content, 0) == full


def test_infinite_number_is_not_plain_and_keeps_its_id() -> None:
    key = call_key("t", {"x": [float("inf")]}, [[float("inf")]], {})
    assert key == ("t_c5c8cabd0e12080d", 0)


def test_plain_value_of_many_levels_has_the_full_text() -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    with pytest.raises(_NotPlain):
        _PlainText().of(deep, 0)
    assert call_id("task", {}, [deep], {}).startswith("task_")


def test_context_is_identified_by_what_does_not_change() -> None:
    def context(**members: Any) -> ExecutionContext[Any]:
        return ExecutionContext(workflow_name="w", input={1}, **members)

    event = ExecutionEvent("TASK_STARTED", "s", "n", None, "2026-01-02T03:04:05Z", "0")
    later = context(state="RUNNING", events=[event])
    assert call_id("t", {}, [context()], {}) == call_id("t", {}, [later], {})
    other = ExecutionContext(workflow_name="w", input={2})
    assert call_id("t", {}, [context()], {}) != call_id("t", {}, [other], {})
