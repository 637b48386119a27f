"""Types of the public functions, for mypy: nothing here is executed.

`assert_type` fails where a function loses the types of a workflow or a task. Each comment
`type: ignore[…]` marks a call that must not type-check: mypy reports those that have no effect.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import AsyncIterator, Awaitable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, assert_type

from windlass import (
    Current,
    ExecutionContext,
    ExecutionError,
    ExecutionEvent,
    Retry,
    StartedWorkflow,
    Task,
    Workflow,
    as_completed,
    call,
    current,
    first,
    now,
    parallel,
    patched,
    pause,
    randint,
    sleep,
    start,
    task,
    uuid4,
    workflow,
)
from windlass.client import AsyncClient, AsyncHandle, Client, ExecutionRow, Handle


@dataclass
class Order:
    id: int


@dataclass
class Receipt:
    text: str


@task
async def charge(order: Order, amount: int = 1) -> Receipt:
    return Receipt(str(order.id + amount))


@task
async def charge_both(order: Order, other: Order) -> Receipt:
    return await charge(order)


@task
def in_thread(text: str) -> int:
    return len(text)


@task.with_options(retry=Retry(attempts=2), timeout=timedelta(minutes=1))
async def with_options(text: str) -> list[str]:
    return [text]


@task
async def with_any(rows: dict[str, Any]) -> list[str]:
    return list(rows)


@task.with_options(timeout=1)
async def configured_with_any(rows: Any) -> int:
    return len(rows)


@task
def in_thread_with_any(rows: dict[str, Any]) -> int:
    return len(rows)


@workflow
async def of_any_input(ctx: ExecutionContext[Any]) -> Receipt:
    return await charge(ctx.input)


@workflow.with_options(timeout=60)
async def of_members(ctx: ExecutionContext[dict[str, Any]]) -> list[str]:
    return await with_any(ctx.input)


class Shop:
    @task
    async def sell(self, order: Order) -> Receipt:
        return await charge(order)


@workflow
async def buy(ctx: ExecutionContext[Order]) -> Receipt:
    assert_type(ctx.input, Order)
    return await charge(ctx.input)


@workflow
async def ten_of(ctx: ExecutionContext[list[int]]) -> list[int]:
    return ctx.input


async def types_of_tasks(order: Order) -> None:
    assert_type(await charge(order), Receipt)
    assert_type(await charge(order, amount=2), Receipt)
    assert_type(await in_thread("a"), int)
    assert_type(await with_options("a"), list[str])
    assert_type(await charge.with_options(name="other")(order), Receipt)
    assert_type(await charge.map([order]), list[Receipt])
    assert_type(await in_thread.map(["a"], limit=2), list[int])
    assert_type(await Shop().sell(order), Receipt)
    cached: Task[[str], int] = in_thread
    assert_type(await cached("a"), int)


async def types_of_functions_with_any() -> None:
    assert_type(await with_any({}), list[str])
    assert_type(await configured_with_any(1), int)
    assert_type(await in_thread_with_any({}), int)
    assert_type(of_any_input, Workflow[Any, Receipt])
    assert_type(of_members, Workflow[dict[str, Any], list[str]])
    assert_type(await call(of_any_input, 1), Receipt)
    assert_type(await parallel(with_any({}), configured_with_any(1)), tuple[list[str], int])


async def types_of_built_in_tasks(order: Order) -> None:
    assert_type(await parallel(charge(order), in_thread("a"), limit=2), tuple[Receipt, int])
    assert_type(
        await parallel.with_options(name="both")(sleep(1), in_thread("a"), uuid4()),
        tuple[None, int, uuid.UUID],
    )
    ten = await parallel(
        now(),
        sleep(1),
        uuid4(),
        charge(order),
        in_thread("a"),
        now(),
        sleep(1),
        uuid4(),
        charge(order),
        in_thread("a"),
    )
    assert_type(ten[0], datetime)
    assert_type(ten[9], int)
    assert_type(await parallel(*[charge(order)], limit=2), list[Receipt])
    assert_type(
        await parallel(charge(order), in_thread("a"), return_exceptions=True),
        tuple[Receipt | ExecutionError, int | ExecutionError],
    )
    assert_type(
        await parallel(*[charge(order)], return_exceptions=True), list[Receipt | ExecutionError]
    )
    assert_type(await first(charge(order), charge(order)), Receipt)
    assert_type(await first(charge(order), sleep(60)), Receipt | None)
    assert_type(await first(*[charge(order)]), Receipt)
    assert_type(as_completed([charge(order)]), AsyncIterator[Awaitable[Receipt]])
    assert_type(await pause("review"), Any)
    assert_type(await pause("review", type=Order), Order)
    assert_type(await now(), datetime)
    assert_type(await uuid4(), uuid.UUID)
    assert_type(await randint(1, 6), int)
    assert_type(await sleep(timedelta(days=1)), None)
    assert_type(current(), Current)
    assert_type(patched("2026-11-tax"), bool)


async def types_of_nested_runs(order: Order) -> None:
    started = await start(buy, order)
    assert_type(started, StartedWorkflow[Receipt])
    assert_type(await started.result(), Receipt)
    assert_type(await (await start("shop/buy", order)).result(), Any)
    assert_type(await call(buy, order), Receipt)
    assert_type(await call(buy, order, mode="async"), str)
    assert_type(await call("shop/buy", order), Any)
    assert_type(await call("shop/buy", order, mode="async"), str)
    assert_type(await call(ten_of, 1, 2, 3), list[int])
    assert_type(await call.with_options(name="buys")(buy, order), Receipt)
    assert_type(await parallel(call(buy, order), in_thread("a")), tuple[Receipt, int])
    # An output is also a value of any wider type.
    str(await call(buy, order))
    str(await started.result())
    _wider: Workflow[Order, object] = buy


def types_of_workflows(client: Client, order: Order) -> None:
    assert_type(buy, Workflow[Order, Receipt])
    assert_type(buy.run(order).result(), Receipt)
    assert_type(client.run(buy, order), Receipt)
    assert_type(client.run("shop/buy", order), Any)
    assert_type(client.start(buy, order), Handle[Receipt])
    assert_type(client.start(buy, order).result(), Receipt)
    assert_type(client.start(buy, order).events(), list[ExecutionEvent])
    assert_type(client.execution("1", buy), Handle[Receipt])
    assert_type(client.executions(), Iterator[ExecutionRow])


async def types_of_the_async_client(client: AsyncClient, order: Order) -> None:
    assert_type(await client.run(buy, order), Receipt)
    assert_type(await client.start(buy, order), AsyncHandle[Receipt])
    assert_type(await (await client.start(buy, order)).result(), Receipt)


async def refused_calls(client: Client, order: Order) -> None:
    await charge("1")  # type: ignore[arg-type]
    await charge(order, amount="2")  # type: ignore[arg-type]
    await charge()  # type: ignore[call-arg]
    await charge(order, tip=1)  # type: ignore[call-arg]
    await Shop().sell("1")  # type: ignore[arg-type]
    await charge.with_options(name="other")("1")  # type: ignore[arg-type]
    await start(buy, "1")  # type: ignore[misc]
    client.run(buy, "1")  # type: ignore[misc]
    await call(buy, "1")  # type: ignore[misc]
    await call(buy, order, mode="later")  # type: ignore[call-overload]
    await charge_both.map([order])  # type: ignore[misc]
    charge(order)  # type: ignore[unused-coroutine]
    client.start(buy, "1")  # type: ignore[misc]


def refused_options() -> None:
    task.with_options(retries=3)  # type: ignore[call-arg]
    task.with_options(timeout="1")  # type: ignore[arg-type]
    workflow.with_options(schedule="0 9 * * *")  # type: ignore[arg-type]
    Retry(attempts="3")  # type: ignore[arg-type]


async def refused_results(order: Order) -> None:
    _number: int = await charge(order)  # type: ignore[assignment]
    _receipts: list[str] = await parallel(charge(order))  # type: ignore[arg-type]
    _text, _count = await parallel(in_thread("a"), charge(order))
    _count.upper()  # type: ignore[attr-defined]
    _output: str = await call(buy, order)  # type: ignore[arg-type]
    _order: Order = await pause("review", type=Receipt)  # type: ignore[arg-type]
    random.choice(await buy(ExecutionContext()))  # type: ignore[arg-type]
