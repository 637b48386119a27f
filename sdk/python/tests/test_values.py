"""Values: the same in the first run and in every replay."""

from __future__ import annotations

import sys
import threading
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    TypedDict,
    TypeVar,
    Union,
)
from uuid import UUID

import attrs
import msgspec
import pydantic
import pytest
from typing_extensions import TypeAliasType

from run_fixture import failure_of, resuming, run_from, value
from windlass import (
    ExecutionContext,
    Graph,
    LocalFileStorage,
    call,
    parallel,
    pause,
    pipeline,
    task,
    values,
    workflow,
)
from windlass.errors import ValueTooLargeError

T = TypeVar("T")


class Colour(Enum):
    RED = "red"


@dataclass
class Line:
    price: Decimal
    tags: set[str] = field(default_factory=set)


@dataclass
class Order:
    id: int
    lines: list[Line]
    wait: timedelta = timedelta(0)


@attrs.frozen
class Point:
    x: int


class Row(TypedDict):
    at: datetime


class Pair(NamedTuple):
    left: int
    right: str


class Model(pydantic.BaseModel):
    n: int
    when: date


@dataclass
class Box(Generic[T]):
    content: T


@dataclass
class Cat:
    lives: int


@dataclass
class Dog:
    tricks: list[str]


@dataclass
class Bird:
    """Fits every object, because it has no required field."""

    song: str = ""


@dataclass
class Parrot:
    song: str = ""
    words: int = 0


class Size(Enum):
    SMALL = (1, 2)


@dataclass
class Owner:
    pet: Cat | Dog
    friend: Owner | Cat | None = None
    since: date | datetime | None = None


@dataclass
class Interval:
    length: timedelta | None
    label: int | str = 0
    made: int = field(init=False)

    def __post_init__(self) -> None:
        self.made = 1


@attrs.define
class Kennel:
    dogs: dict[Path, Cat | Dog] = attrs.field(factory=dict)


class Sighting(TypedDict, total=False):
    animal: Cat | Dog


class Race(NamedTuple):
    winner: Cat | Dog
    time: timedelta = timedelta(0)


@dataclass
class Tank(Box[T]):
    size: Literal[Size.SMALL] | None = None


class StrictModel(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(strict=True)
    when: date
    ids: set[UUID]


class ClosedModel(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    n: int

    @pydantic.computed_field  # type: ignore[prop-decorator]
    @property
    def twice(self) -> int:
        return 2 * self.n


Wait = NewType("Wait", timedelta)
Kept = NewType("Kept", Line)
Pet = TypeAliasType("Pet", Cat | Dog)
Id = NewType("Id", int)


class Money:
    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and self.text == other.text

    __hash__ = None  # type: ignore[assignment]


values.register(Money, lambda money: money.text, Money)

ORDER = Order(1, [Line(Decimal("9.90"), {"b", "a"})], timedelta(minutes=5))


@pytest.mark.parametrize(
    ("annotation", "returned"),
    [
        (Order, ORDER),
        (list[Order], [ORDER]),
        (dict[int, Line], {7: Line(Decimal(1))}),
        (Point, Point(3)),
        (Row, {"at": datetime(2026, 1, 2, tzinfo=UTC)}),
        (Pair, Pair(1, "a")),
        (tuple[int, str], (1, "a")),
        (Model, Model(n=1, when=date(2026, 1, 2))),
        (list[Model], [Model(n=1, when=date(2026, 1, 2))]),
        (Box[Line], Box(Line(Decimal(2)))),
        (Colour, Colour.RED),
        (datetime, datetime(2026, 1, 2, 3, 4, 5, 6)),
        (date, date(2026, 1, 2)),
        (time, time(3, 4)),
        (timedelta, timedelta(seconds=1.5)),
        (list[timedelta], [timedelta(days=1)]),
        (Decimal, Decimal("1.10")),
        (UUID, UUID(int=5)),
        (Path, Path("/tmp/x")),
        (bytes, b"\x00\xff"),
        (set[int], {3, 1}),
        (frozenset[str], frozenset({"a"})),
        (Literal["a", "b"], "a"),
        (int | None, None),
        (Cat | Dog, Dog(["sit"])),
        (list[Union[Cat, Dog]], [Cat(9), Dog([])]),  # noqa: UP007
        (int | Order, ORDER),
        (Money, Money("5 EUR")),
        (dict[str, Money], {"a": Money("1")}),
        (float, 2.0),
        (int, 10**40),
        (Owner, Owner(Dog(["sit"]), Owner(Cat(9)), datetime(2026, 1, 2, tzinfo=UTC))),
        (list[Owner], [Owner(Cat(1), Cat(2))]),
        (timedelta | None, timedelta(hours=1)),
        (timedelta | None, None),
        (Interval, Interval(timedelta(days=1), "5")),
        (list[Interval | None], [None, Interval(None)]),
        (Kennel, Kennel({Path("a"): Dog([])})),
        (Sighting, {"animal": Dog([])}),
        (Race, Race(Dog([]), timedelta(seconds=9.5))),
        (Box[Cat | Dog], Box(Dog([]))),
        (Tank[Cat | Dog], Tank(Dog([]), Size.SMALL)),
        (Bird | Parrot, Parrot("la", 3)),
        (Size, Size.SMALL),
        (Literal[Colour.RED], Colour.RED),
        (Colour | int, Colour.RED),
        (dict[Colour, Cat | Dog], {Colour.RED: Dog([])}),
        (dict[timedelta, int], {timedelta(seconds=90): 1}),
        (dict[bytes, int], {b"\xff": 1}),
        (dict[bool, int], {True: 1}),
        (dict[Path | None, int], {Path("x"): 1}),
        (Iterable[Cat], [Cat(1)]),
        (deque[Cat], deque([Cat(1)])),
        (OrderedDict[str, Cat], OrderedDict(a=Cat(1))),
        (Counter[str], Counter("aab")),
        (Annotated[Cat | Dog, "a pet"], Dog([])),
        (deque, deque([1])),
        (OrderedDict, OrderedDict(a=1)),
        (Counter, Counter("aab")),
        (StrictModel, StrictModel(when=date(2026, 1, 2), ids={UUID(int=5)})),
        (ClosedModel, ClosedModel(n=1)),
        (Wait, Wait(timedelta(hours=1))),
        (list[Kept], [Kept(Line(Decimal(1)))]),
        (dict[Id, Wait], {7: timedelta(hours=1)}),
        (dict[Wait, int], {timedelta(hours=1): 1}),
        (Pet, Dog([])),
        (Pet | None, Cat(1)),
    ],
)
async def test_result_is_decoded_under_its_annotation_in_every_run(
    annotation: Any, returned: Any
) -> None:
    seen: list[Any] = []

    async def gives() -> Any:
        return returned

    gives.__annotations__["return"] = annotation
    gives_task = task(gives)

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        seen.append(await gives_task())
        seen.append((await parallel(gives_task()))[0])

    log = (await run_from(body)).events
    assert "failed" not in log[-1].type.lower(), log[-1].value
    await run_from(body, log[:-1])
    assert seen == [returned] * 4
    assert {type(item) for item in seen} == {type(returned)}


PARAMETERS = """
from __future__ import annotations
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple, TypedDict

@dataclass
class Cat:
    lives: int

@dataclass
class Dog:
    tricks: list[str]

type Pet = Cat | Dog
type Pair[T] = tuple[T, T]
type Tree = list[Tree] | Cat | Dog

@dataclass
class Box[T]:
    content: T

@dataclass
class Tank[T](Box[T]):
    inner: Tank[T] | None = None

class Row[T](TypedDict):
    at: T

class Race[T](NamedTuple):
    winner: T
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters need Python 3.12")
@pytest.mark.parametrize(
    ("annotation", "returned"),
    [
        ("Pet", "Dog([])"),
        ("Pair[timedelta]", "(timedelta(1), timedelta(2))"),
        ("Pair[Pet]", "(Cat(1), Dog([]))"),
        ("Tree", "[[Cat(1)], Dog([])]"),
        ("Box[Pet]", "Box(Dog([]))"),
        ("Box[timedelta]", "Box(timedelta(1))"),
        ("Tank[Pet]", "Tank(Cat(1), Tank(Dog([])))"),
        ("dict[str, Pet]", "{'a': Dog([])}"),
        ("Row[timedelta]", "{'at': timedelta(1)}"),
        ("Race[timedelta]", "Race(timedelta(1))"),
    ],
)
async def test_type_parameters_and_aliases_decode_in_every_run(
    annotation: str, returned: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module: Any = ModuleType("parameters")
    monkeypatch.setitem(sys.modules, "parameters", module)
    exec(PARAMETERS, vars(module))
    await test_result_is_decoded_under_its_annotation_in_every_run(
        eval(annotation, vars(module)), eval(returned, vars(module))
    )


async def test_other_annotations_are_unknown_at_run_time_result_and_input_are_decoded() -> None:
    @task
    async def find(pet: Cat) -> Cat:
        return pet

    find.func.__annotations__["pet"] = "Missing"

    @workflow
    async def body(ctx: ExecutionContext[Cat]) -> str:
        return f"{ctx.input} {await find(Cat(9))}"

    body.func.__annotations__["return"] = "Missing"
    assert body.run({"lives": 1}).output == "Cat(lives=1) Cat(lives=9)"


async def test_result_without_an_annotation_is_plain_json_in_every_run() -> None:
    seen: list[Any] = []

    @task
    async def gives():  # type: ignore[no-untyped-def]
        return {"order": ORDER, "set": {1}, "pair": (1, 2)}

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        seen.append(await gives())

    log = (await run_from(body)).events
    await run_from(body, log[:-1])
    plain = {"id": 1, "lines": [{"price": "9.90", "tags": ["a", "b"]}], "wait": 300.0}
    assert seen == [{"order": plain, "set": [1], "pair": [1, 2]}] * 2


async def test_change_of_a_result_does_not_change_the_record() -> None:
    @task
    async def gives() -> list[int]:
        return [1]

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> list[int]:
        result = await gives()
        result.append(2)
        return result

    log = (await run_from(body)).events
    assert value(log[2]) == [1]
    assert log[-1].value == [1, 2]


@pytest.mark.parametrize(
    ("annotation", "returned", "message"),
    [
        (int, "x", "Expected `int`, got `str`"),
        (Order, {"id": 1, "lines": [{"price": "x"}]}, r"at `\$\.lines\[0\]\.price`"),
        (None, 1, "Expected `null`, got `int`"),
        (Cat | Dog, 3, "no member of the union fits"),
        (list[Owner], [{"pet": {}}], r"no member of the union fits .* at `\$\[0\]\.pet`"),
        (Owner, {}, "Object missing required field `pet`"),
        (list[Interval], [{"length": "x"}], r"at `\$\[0\]\.length`"),
        (Race, [{"lives": 1}, 1, 2], "Expected `array` of at most length 2, got 3"),
        (Size, 3, "Invalid enum value 3"),
        (dict[Path | None, int], {"a": "x"}, r"Expected `int`, got `str` - at `\$\[\.\.\.\]`"),
        (dict[bool, int], {"yes": 1}, "the key 'yes' does not fit"),
        (defaultdict[str, int], {"a": 1}, "defaultdict has no JSON form"),
        (threading.Event, threading.Event(), "no JSON form"),
        (Any, [{"a": threading.Lock()}], r"\$\[0\]\.a: a value of the type lock has no JSON form"),
        (Any, iter([1]), r"\$: a value of the type list_iterator has no JSON form"),
        (Any, {"x": float("nan")}, r"\$\.x: JSON has no NaN"),
        (Any, {"rows": [{"a": float("-inf")}]}, r"\$\.rows\[0\]\.a: JSON has no NaN"),
        (Any, {float("nan"): 1}, "JSON"),
        (Any, {object(): 1}, "a key of the type object has no JSON form"),
        (Any, [{"a": {run_from: 1}}], r"\$\[0\]\.a: a key of the type function has no JSON form"),
        (Any, run_from, "no JSON form"),
        (Any, complex(1, 2), "no JSON form"),
        (Any, {"rows": [1 << 15_000]}, r"\$\.rows\[0\]: an integer of more than 4,300 digits"),
    ],
)
async def test_result_that_does_not_fit_fails_the_task_in_the_first_run(
    annotation: Any, returned: Any, message: str
) -> None:
    async def gives() -> Any:
        return returned

    gives.__annotations__["return"] = annotation
    gives_task = task(gives)

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        await gives_task()

    log = (await run_from(body)).events
    assert [event.type for event in log[2:]] == ["TASK_FAILED", "WORKFLOW_FAILED"]
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(failure_of(log[-1].value)["message"])


def test_input_is_decoded_under_its_annotation() -> None:
    @workflow
    async def body(ctx: ExecutionContext[Order]) -> Decimal:
        assert isinstance(ctx.input, Order)
        return ctx.input.lines[0].price

    assert body.run({"id": 1, "lines": [{"price": "9.90"}]}).output == "9.90"
    assert body.run(ORDER).output == "9.90"
    failed = body.run({"id": 1, "lines": [{}]})
    assert failure_of(failed.output)["message"] == (
        "the input of default/body does not fit its annotation: "
        "Object missing required field `price` - at `$.lines[0]`"
    )


def test_missing_input_stays_none() -> None:
    @workflow
    async def body(ctx: ExecutionContext[dict[str, int]]) -> str:
        return "none" if ctx.input is None else "some"

    assert body.run().output == "none"


async def test_resume_body_is_decoded_and_one_that_does_not_fit_pauses_again() -> None:
    @workflow
    async def body(ctx: ExecutionContext[Any]) -> list[Any]:
        answer = await pause("review", type=Cat)
        return [type(answer).__name__, answer.lives]

    log = list((await run_from(body)).events)
    log.append(resuming({"lives": "many"}))
    log += (await run_from(body, log)).events
    assert log[-1].type == "WORKFLOW_PAUSED"
    assert log[-1].value["name"] == "review"
    assert "Expected `int`, got `str` - at `$.lives`" in log[-1].value["refused"]
    log.append(resuming({"lives": 9}))
    ended = (await run_from(body, log)).events
    assert ended[-1].value == ["Cat", 9]
    assert (await run_from(body, [*log, *ended[:-1]])).events[-1].value == ["Cat", 9]


def test_output_of_a_called_workflow_is_decoded() -> None:
    @workflow
    async def child(ctx: ExecutionContext[int]) -> Order:
        return Order(ctx.input, [])

    @workflow
    async def parent(ctx: ExecutionContext[Any]) -> int:
        order = await call(child, 4)
        assert isinstance(order, Order)
        return order.id

    assert parent.run().output == 4


async def test_pipeline_and_graph_decode_the_result_of_their_last_task() -> None:
    @task
    async def make(n: int) -> Cat:
        return Cat(n)

    graph = Graph("g").add_node("a", make).add_node("b", lambda cat: cat.lives).add_node("c", make)
    graph.add_edge("a", "b").add_edge("b", "c").start_with("a").end_with("c")
    seen: list[Any] = []

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        seen.append(await pipeline(make, input=1))
        seen.append(await graph(1))

    log = (await run_from(body)).events
    await run_from(body, log[:-1])
    assert seen == [Cat(1)] * 4


@pytest.mark.parametrize("serializer", ["json", "pickle"])
async def test_stored_result_is_the_same_in_every_run(serializer: Any, tmp_path: Path) -> None:
    seen: list[Any] = []

    @task.with_options(output_storage=LocalFileStorage(tmp_path, serializer))
    async def gives() -> Order:
        return ORDER

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        seen.append(await gives())

    log = (await run_from(body)).events
    await run_from(body, log[:-1])
    assert seen == [ORDER, ORDER]


async def test_large_arguments_are_recorded_by_size_and_hash() -> None:
    @task
    async def takes(text: str) -> int:
        return len(text)

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> int:
        return await takes("x" * 100_000)

    log = (await run_from(body)).events
    assert log[1].value.keys() == {"size", "sha256"}
    assert log[1].value["size"] > 100_000
    assert log[-1].value == 100_000


async def test_record_arguments_off_keeps_them_out_of_the_log() -> None:
    @task.with_options(record_arguments=False, fallback=lambda password: password == "x")
    async def takes(password: str) -> bool:
        raise ValueError

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> bool:
        return await takes("x")

    log = (await run_from(body)).events
    assert log[-1].value is True
    assert log[1].value == {}
    assert set(log[2].value) == {"failure"}


def test_register_refuses_what_is_no_class_or_function() -> None:
    with pytest.raises(TypeError, match="a class and two functions"):
        values.register(Money, lambda money: money.text, "no")  # type: ignore[arg-type]


def test_msgspec_reads_timedelta_from_numbers_in_lax_mode() -> None:
    """The decoder relies on it."""
    assert msgspec.convert(1.5, timedelta, strict=False) == timedelta(seconds=1.5)


async def test_result_above_the_limit_fails_the_task_with_size_limit_and_what_to_do() -> None:
    @task
    async def large() -> str:
        return "x" * (17 * 1024 * 1024)

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> str:
        try:
            return await large()
        except ValueTooLargeError as error:
            return error.message

    message = (await run_from(body)).events[-1].value
    assert "the result of large" in message
    assert "17825794 bytes" in message
    assert "output_storage" in message


async def test_output_above_the_limit_fails_the_execution_with_the_reason() -> None:
    @workflow
    async def body(ctx: ExecutionContext[Any]) -> str:
        return "x" * (17 * 1024 * 1024)

    failed = (await run_from(body)).events[-1]
    assert failed.type == "WORKFLOW_FAILED"
    assert failed.value["type"] == "ValueTooLargeError"
