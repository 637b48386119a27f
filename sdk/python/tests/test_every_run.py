"""Values that reach user code are equal, and of equal types, in the first run and every replay."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum, IntFlag, StrEnum, auto
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypedDict
from uuid import UUID

import attrs
import msgspec
import pydantic
import pytest

from every_run import form_of, run_and_replay, task_of
from run_fixture import run_from
from windlass import (
    ExecutionContext,
    LocalFileStorage,
    as_completed,
    current,
    first,
    heartbeat,
    parallel,
    pause,
    pipeline,
    task,
    values,
    workflow,
)
from windlass.output_storage import InlineOutputStorage, OutputStorage, OutputStorageReference
from windlass.testing import Engine


class Colour(Enum):
    RED = "red"
    NONE = None


class Level(IntEnum):
    LOW = 1


class Name(StrEnum):
    ADA = "ada"


class Access(Flag):
    READ = auto()
    WRITE = auto()


class Mode(IntFlag):
    R = 4
    W = 2


@dataclass
class Line:
    price: Decimal
    tags: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: float = -0.0


@dataclass
class Computed:
    items: list[int]
    total: int = field(init=False)
    unset: str = field(init=False)

    def __post_init__(self) -> None:
        self.total = sum(self.items)


@dataclass
class Rights:
    access: Access
    modes: list[Mode]


@attrs.define
class Owner:
    name: str
    _secret: int = 1
    made: list[int] = attrs.field(factory=list, init=False)


class Pair(NamedTuple):
    left: int
    right: timedelta = timedelta(0)


class Row(TypedDict, total=False):
    at: datetime
    sizes: tuple[int, ...]


class Closed(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    n: int

    @pydantic.computed_field  # type: ignore[prop-decorator]
    @property
    def twice(self) -> int:
        return 2 * self.n


class Outer(pydantic.BaseModel):
    inner: Closed
    others: dict[str, list[Closed | None]] = {}


class Settings(pydantic.BaseModel):
    raw: pydantic.Json[dict[str, int]]
    wait: timedelta = timedelta(0)


@dataclass
class Holder:
    outer: Outer


class Money:
    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


values.register(Money, lambda money: money.text, Money)


@pytest.mark.parametrize(
    ("annotation", "returned"),
    [
        (float, -0.0),
        (float, 5e-324),
        (list[float], [-0.0, 1e308, 2.0]),
        (int, 2**64 + 1),
        (list[int], [-(2**80), 2**64]),
        (dict[str, int | float], {"a": 2**70, "b": 1.0}),
        (str, "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")),
        (str, "NUL \0 and a half \ud800"),
        (bytes, b"\x00\xff"),
        (bytearray, bytearray(b"\x01")),
        (memoryview, memoryview(b"abc")),
        (memoryview, memoryview(b"abcd")[::2]),
        (Decimal, Decimal("-0.00")),
        (Decimal, Decimal("Infinity")),
        (datetime, datetime(2026, 10, 25, 2, 30, tzinfo=timezone(timedelta(hours=-9.5)))),
        (datetime, datetime.max),
        (time, time(23, 59, 59, 999_999, tzinfo=UTC)),
        (timedelta, timedelta(microseconds=-1)),
        (timedelta, timedelta(days=366_000, microseconds=1)),
        (timedelta, timedelta.max),
        (timedelta, -timedelta(days=366_000, microseconds=1)),
        (dict[timedelta, int], {timedelta(days=366_000, microseconds=1): 1}),
        (Colour, Colour.NONE),
        (Level, Level.LOW),
        (Name, Name.ADA),
        (Access, Access.READ | Access.WRITE),
        (Access, Access(0)),
        (Mode | None, Mode.R | Mode.W),
        (list[Access], [Access.READ, Access.READ | Access.WRITE]),
        (dict[Access, int], {Access.READ | Access.WRITE: 1}),
        (Rights, Rights(Access.READ | Access.WRITE, [Mode.R | Mode.W])),
        (Computed, Computed([1, 2])),
        (list[Computed], [Computed([])]),
        (Owner, Owner("a", 2)),
        (Point, Point(1)),
        (set[Point], {Point(1), Point(2, 1.5)}),
        (frozenset[tuple[int, str]], frozenset({(1, "a"), (2, "b")})),
        (Pair, Pair(1, timedelta(1))),
        (Row, {"at": datetime(2026, 1, 2), "sizes": (1, 2)}),
        (Literal["a", 1, None], None),
        (Literal[Colour.RED, 2], Colour.RED),
        (Annotated[list[Point] | None, "points"], [Point(3)]),
        (Annotated[int, msgspec.Meta(gt=0)] | Annotated[str, "x"], "5"),
        (Closed, Closed(n=1)),
        (Outer, Outer(inner=Closed(n=1), others={"a": [Closed(n=2), None]})),
        (Holder, Holder(Outer(inner=Closed(n=1)))),
        (list[Outer | Closed], [Closed(n=1), Outer(inner=Closed(n=2))]),
        (Settings, Settings.model_validate({"raw": '{"a": 1}', "wait": 1.5})),
        (dict[tuple[int, str], Money], {(1, "a"): Money("5 EUR")}),
        (dict[Pair, int], {Pair(1, timedelta(seconds=1)): 2}),
        (dict[frozenset[int], int], {frozenset({3, 1}): 2}),
        (dict[Point, int], {Point(1, 2.0): 2}),
        (dict[Money, int], {Money("1 EUR"): 2}),
        (dict[UUID, int], {UUID(int=5): 1}),
        (dict[datetime, int], {datetime(2026, 1, 2, 3, tzinfo=UTC): 1}),
        (dict[date, Path], {date(2026, 1, 2): Path("/x")}),
        (dict[float, int], {1.0: 1, -0.5: 2}),
        (deque[Pair], deque([Pair(1)])),
        (Mapping[str, Sequence[int]], {"a": [1]}),
    ],
)
async def test_result_is_the_value_that_the_task_returned_in_every_run(
    annotation: Any, returned: Any
) -> None:
    async def body(seen: list[Any], _: Any) -> None:
        gives = task_of(returned, annotation)
        seen.append(await gives())
        seen += await parallel(gives(), gives())
        seen += await gives.map([1, 2])
        seen.append(await first(gives(3)))
        seen.append(await pipeline(gives, input=4))
        async for ended in as_completed([gives(5)]):
            seen.append(await ended)

    seen, _ = await run_and_replay(body)
    assert [form_of(part) for part in seen] == [form_of(returned)] * 8


async def test_offset_of_a_datetime_is_not_of_whole_minutes_it_is_the_same_time_in_utc() -> None:
    returned = datetime(1900, 1, 1, tzinfo=timezone(timedelta(minutes=9, seconds=21)))

    async def body(seen: list[Any], _: Any) -> None:
        seen.append(await task_of(returned, datetime)())

    seen, _ = await run_and_replay(body)
    assert seen == [returned]
    assert seen[0].utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "returned",
    [
        None,
        float("1e308"),
        "\ud83d" + "\ude00",
        {"a": "\ud83d" + "\ude00"},
        [(1, 2), {3, 1}, deque([4])],
        {1: "a", None: "b", False: "c", 2.5: "d", (1, 2): "e", Colour.RED: "f"},
        {"when": datetime(2026, 1, 2), "model": Outer(inner=Closed(n=1)), "money": Money("1")},
        {"storage_type": "inline", "reference_id": "x", "metadata": {"value": 1}},
        {"$codec": "x", "key": "k", "data": "d"},
        Level.LOW,
        [2**80, -0.0, 1.0],
        memoryview(b"ab"),
        Computed([1]),
    ],
)
async def test_result_without_an_annotation_is_the_same_in_every_run(
    returned: Any, tmp_path: Path
) -> None:
    storages = (
        None,
        InlineOutputStorage(),
        _TupleStorage(),
        LocalFileStorage(tmp_path, "json"),
    )

    async def body(seen: list[Any], _: Any) -> None:
        for storage in storages:
            gives = task_of(returned, output_storage=storage)
            seen.append(await gives())
            seen += await parallel(gives())
            seen.append(await first(gives(1)))

    await run_and_replay(body)


@pytest.mark.parametrize("annotation", [None, list[Line]])
@pytest.mark.parametrize("serializer", ["json", "pickle"])
async def test_stored_result_is_the_same_in_every_run_and_inside_of_parallel(
    annotation: Any, serializer: Any, tmp_path: Path
) -> None:
    async def body(seen: list[Any], _: Any) -> None:
        storage = LocalFileStorage(tmp_path, serializer)
        gives = task_of([Line(Decimal(1), {"a"})], annotation, output_storage=storage)
        seen.append(await gives())
        seen += await parallel(gives())

    await run_and_replay(body)


class _TupleStorage(OutputStorage):
    """Storage whose references contain values that JSON has in another form."""

    def __init__(self) -> None:
        self._stored: dict[tuple[str, int], Any] = {}

    def store(self, reference_id: str, value: Any) -> OutputStorageReference:
        self._stored[reference_id, 1] = value
        return OutputStorageReference("own", reference_id, {"key": (reference_id, 1)})

    def retrieve(self, reference: OutputStorageReference) -> Any:
        assert type(reference.metadata["key"]) is list
        return self._stored.get(tuple(reference.metadata["key"]), "lost")

    def delete(self, reference: OutputStorageReference) -> None: ...


@pytest.mark.parametrize("storage", ["none", "json", "pickle"])
@pytest.mark.parametrize(
    ("annotation", "returned"),
    [
        (None, {"a": (1, {2})}),
        (Line, Line(Decimal("1.10"), {"a"})),
        (dict[tuple[int, int], Point], {(1, 2): Point(1)}),
        (Any, {3, 1}),
    ],
)
async def test_cached_result_is_the_same_as_the_one_that_was_cached(
    annotation: Any, returned: Any, storage: str, tmp_path: Path
) -> None:
    seen: list[Any] = []
    options: dict[str, Any] = {"cache": True}
    if storage != "none":
        options["output_storage"] = LocalFileStorage(tmp_path, storage)  # type: ignore[arg-type]
    gives = task_of(returned, annotation, **options)

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        seen.append(await gives())
        seen.append(await gives())

    with Engine() as engine:
        for _ in range(2):
            await engine.start(body)
        again = await engine.continue_from(body, None, engine.executions[0].events[:-1])
        assert again.state == "COMPLETED"
    assert [form_of(part) for part in seen] == [form_of(seen[0])] * 6


async def test_cached_tasks_of_equal_names_each_has_its_own_result() -> None:
    def add(amount: int, n: int) -> int:
        return amount + n

    class Adder:
        def __init__(self, amount: int) -> None:
            self.amount = amount

        def add(self, n: int) -> int:
            return self.amount + n

        def __call__(self, n: int) -> int:
            return self.amount + n

    seen: list[Any] = []

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        cached = task.with_options(cache=True)
        for func in (
            partial(add, 1),
            partial(add, 2),
            partial(add, amount=3),
            Adder(1).add,
            Adder(2).add,
            Adder(1),
            Adder(2),
        ):
            seen.append(await cached(func)(n=10))  # noqa: PERF401

    with Engine() as engine:
        for _ in range(2):
            await engine.start(body)
            assert engine.executions[-1].state == "COMPLETED", engine.executions[-1].output
    assert seen == [11, 12, 13, 11, 12, 11, 12] * 2


async def test_partials_and_bound_methods_results_are_decoded_in_every_run() -> None:
    def double(factor: int, line: Line) -> Line:
        return Line(line.price * factor, line.tags)

    @dataclass
    class Shop:
        factor: int

        async def price(self, line: Line) -> Line:
            return Line(line.price * self.factor)

        @task
        async def method(self, line: Line) -> Line:
            return Line(line.price * self.factor)

    async def body(seen: list[Any], _: Any) -> None:
        line = Line(Decimal(2))
        seen.append(await task(partial(double, 2))(line))
        seen.append(await task(partial(partial(double), factor=2))(line=line))
        seen.append(await task(Shop(2).price)(line))
        seen.append(await Shop(2).method(line))

    seen, _ = await run_and_replay(body)
    assert seen == [Line(Decimal(4))] * 4


async def test_change_of_a_result_an_input_or_a_resume_body_is_not_seen_by_later_runs() -> None:
    gives = task_of(lambda: {"rows": [1]})
    seen: list[Any] = []

    @workflow
    async def body(ctx: ExecutionContext[dict[str, Any]]) -> list[Any]:
        seen.clear()
        result, *_ = await parallel(gives())
        alone = await gives(1)
        got = await pause("one")
        for value in (ctx.input, result, alone, got):
            value["rows"].append(2)
            seen.append([*value["rows"]])
        await pause("two")
        for value in (ctx.input, result, alone, got):
            value["rows"].append(3)
            seen.append([*value["rows"]])
        return [ctx.input, result, alone, got]

    with Engine() as engine:
        run = await engine.start(body, {"rows": [1]})
        await run.resume({"rows": [1]})
        await run.resume()
        assert run.result() == [{"rows": [1, 2, 3]}] * 4
    local = body.run({"rows": [1]})
    body.resume(local.execution_id, {"rows": [1]})
    assert body.resume(local.execution_id).output == [{"rows": [1, 2, 3]}] * 4


async def test_one_list_passed_twice_and_changed_between_calls_has_the_same_outcome() -> None:
    @task
    async def total(rows: list[int], more: list[int] | None = None) -> int:
        return sum(rows) + sum(more or ())

    async def body(seen: list[Any], _: Any) -> None:
        rows = [1]
        one = total(rows)
        rows.append(2)
        two = total(rows, rows)
        seen += await parallel(one, two)
        seen.append(await total(more=rows, rows=rows))
        seen.append(await total(rows=rows, more=rows))

    seen, _ = await run_and_replay(body)
    assert seen == [3, 6, 6, 6]


@pytest.mark.parametrize(
    "body",
    [
        {"a": 1},
        {"storage_type": "inline", "reference_id": "r", "metadata": {"value": 1}},
        [1, 2.0],
        "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
        None,
    ],
)
async def test_resume_body_is_the_same_in_every_run(body: Any) -> None:
    async def waits(seen: list[Any], _: Any) -> None:
        seen.append(await pause("p"))

    seen, _ = await run_and_replay(waits, resumes=[body])
    assert seen == [body]


async def test_details_of_a_heartbeat_are_the_same_in_the_next_attempt_of_any_run() -> None:
    details: list[Any] = []

    @task.with_options(retry_max_attempts=1, retry_delay=0)
    async def works() -> None:
        if current().attempt == 1:
            state: dict[str, Any] = {"rows": (1, 2)}
            heartbeat(state)
            state["rows"] = ()
            raise ValueError
        details.append(current().heartbeat_details)

    async def body(seen: list[Any], _: Any) -> None:
        await works()

    await run_and_replay(body)
    assert {repr(one) for one in details} == {"{'rows': [1, 2]}"}


class Broken:
    """Value whose form cannot be computed."""


def _break(_: Broken) -> Any:
    raise KeyError("part")


values.register(Broken, _break, lambda _: Broken())


async def test_output_whose_form_cannot_be_computed_the_execution_fails_with_the_reason() -> None:
    @workflow
    async def body(ctx: ExecutionContext[Any]) -> Any:
        return {"rows": [Broken()]}

    log = (await run_from(body)).events
    assert log[-1].type == "WORKFLOW_FAILED"
    assert "$.rows[0]: 'part'" in log[-1].value["message"]
