"""Tasks that are methods of a class."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import pytest

from run_fixture import run_from
from windlass import ExecutionContext, ExecutionEvent, task, workflow

runs: list[str] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    runs.clear()


@dataclass
class Shop:
    currency: str

    @task
    async def price(self, item: str) -> str:
        runs.append(item)
        return f"{item} in {self.currency}"

    @task.with_options(name="label_{item}_{self.currency}", retry_max_attempts=1, retry_delay=0)
    def label(self, item: str) -> str:
        return f"[{item}]"

    @classmethod
    @task
    async def inner_class_task(cls, n: int) -> str:
        return f"{cls.__name__} {n}"

    @task
    @classmethod
    async def outer_class_task(cls, n: int) -> str:
        return f"{cls.__name__} {n}"

    @staticmethod
    @task
    async def inner_static_task(n: int) -> int:
        return n + 1

    @task
    @staticmethod
    async def outer_static_task(n: int) -> int:
        return n + 2


class Locked:
    def __init__(self) -> None:
        self.lock = threading.Lock()

    @task
    async def work(self) -> None: ...


def started(events: list[ExecutionEvent]) -> list[ExecutionEvent]:
    return [event for event in events if event.type == "TASK_STARTED"]


async def test_method_as_task_receives_its_instance_and_replays() -> None:
    @workflow
    async def prices(ctx: ExecutionContext[Any]) -> list[str]:
        euro = Shop("EUR")
        return [await euro.price("tea"), await euro.label("tea"), await Shop("USD").price("tea")]

    log = (await run_from(prices)).events
    assert log[-1].value == ["tea in EUR", "[tea]", "tea in USD"]
    assert [event.name for event in started(log)] == ["price", "label_tea_EUR", "price"]
    runs.clear()
    again = (await run_from(prices, log[:-1])).events
    assert again[-1].value == log[-1].value
    assert runs == []


async def test_receiver_is_part_of_the_call_id_by_value() -> None:
    @workflow
    async def prices(ctx: ExecutionContext[Any]) -> None:
        for currency in ("EUR", "EUR", "USD"):
            await Shop(currency).price("tea")

    ids = [event.source_id for event in started((await run_from(prices)).events)]
    assert ids[1] == f"{ids[0]}#2"
    assert ids[2].partition("#")[0] != ids[0]


async def test_recorded_arguments_of_a_method_omit_the_receiver() -> None:
    @workflow
    async def prices(ctx: ExecutionContext[Any]) -> None:
        await Shop("EUR").price("tea")

    assert started((await run_from(prices)).events)[0].value == {"item": "tea"}


async def test_class_and_static_methods_as_tasks_in_both_orders() -> None:
    @workflow
    async def values(ctx: ExecutionContext[Any]) -> list[Any]:
        return [
            # mypy does not apply descriptors through the decorators of class and static methods.
            await Shop.inner_class_task(1),  # type: ignore[call-arg, arg-type]
            await Shop("EUR").outer_class_task(2),
            await Shop.inner_static_task(3),
            await Shop("EUR").outer_static_task(4),  # type: ignore[call-arg]
        ]

    assert (await run_from(values)).events[-1].value == ["Shop 1", "Shop 2", 4, 6]


async def test_bound_method_with_options_and_map_keeps_its_instance() -> None:
    @workflow
    async def prices(ctx: ExecutionContext[Any]) -> list[Any]:
        euro = Shop("EUR")
        return [await euro.price.with_options(name="p")("tea"), *await euro.price.map(["a", "b"])]

    log = (await run_from(prices)).events
    assert log[-1].value == ["tea in EUR", "a in EUR", "b in EUR"]
    assert started(log)[0].name == "p"


async def test_unbound_method_takes_its_instance_as_an_argument() -> None:
    @workflow
    async def prices(ctx: ExecutionContext[Any]) -> str:
        return await Shop.price(Shop("EUR"), "tea")

    assert (await run_from(prices)).events[-1].value == "tea in EUR"


async def test_receiver_without_a_value_fails_the_call_with_its_type() -> None:
    @workflow
    async def locks(ctx: ExecutionContext[Any]) -> None:
        await Locked().work()

    failure = (await run_from(locks)).events[-1].value
    assert failure["type"] == "TypeError"
    assert "lock has no stable identity" in failure["message"]
