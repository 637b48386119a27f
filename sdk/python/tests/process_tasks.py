"""Tasks with `process=True` for `test_processes`."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from windlass import ExecutionContext, Retry, current, heartbeat, parallel, task, workflow
from windlass.errors import TaskProcessCrashed
from windlass.tasks import progress


@dataclass
class Order:
    id: int
    blob: Any = None


class Refused(Exception):
    pass


@task.with_options(process=True)
def square(n: int) -> list[int]:
    return [n * n, os.getpid()]


@task.with_options(process=True)
def total(order: Order, *, factor: int = 1) -> Order:
    return Order(order.id * factor)


@task.with_options(process=True)
def raises(text: str) -> None:
    raise Refused(text)


@task.with_options(process=True)
def anything(kind: str) -> Any:
    match kind:
        case "exits":
            os._exit(3)
        case "is killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "crashes":
            ctypes.string_at(0)
        case "calls sys.exit":
            sys.exit(4)
        case "calls a task":
            square(2)  # type: ignore[unused-coroutine]
        case "returns a lock":
            return {"rows": [1, {"lock": threading.Lock()}]}
        case "is secretive":
            secret = [name for name in os.environ if "TOKEN" in name or "SECRET" in name]
            return [secret, sys.argv]
    return None


@task.with_options(process=True)
def leaves_a_copy(path: str) -> None:
    copy = os.fork()
    if copy == 0:
        time.sleep(600)
        os._exit(0)
    Path(path).write_text(str(copy))
    os._exit(3)


@task.with_options(process=True, retry=Retry(attempts=2, delay=0))
def crashes_once(path: str) -> int:
    if not Path(path).exists():
        Path(path).write_text("crashed")
        os._exit(9)
    return current().attempt


@task.with_options(process=True, timeout=5)
def computes_forever(path: str) -> None:
    Path(path).write_text(str(os.getpid()))
    while True:
        time.sleep(0.01)


@task.with_options(process=True, heartbeat_timeout=60)
def reports(n: int) -> list[Any]:
    print(f"printed {n}")  # noqa: T201
    logging.getLogger("mine").warning("logged %s", n)
    progress({"done": n})
    heartbeat(n)
    here = current()
    return [here.execution_id, here.call_id, here.attempt, here.idempotency_key, here.workflow]


class Tools:
    @task.with_options(process=True)
    @staticmethod
    def add(a: int, b: int) -> int:
        return a + b


@workflow
async def squares(ctx: ExecutionContext[int]) -> list[list[int]]:
    return await parallel(*(square(n) for n in range(ctx.input)))


@workflow
async def orders(ctx: ExecutionContext[Order]) -> list[int]:
    found = await total(ctx.input, factor=3)
    return [found.id, await Tools.add(1, 2)]


@workflow
async def does(ctx: ExecutionContext[str]) -> Any:
    return await anything(ctx.input)


@workflow
async def catches(ctx: ExecutionContext[str]) -> Any:
    try:
        await raises(ctx.input)
    except Refused as error:
        return [isinstance(error, TaskProcessCrashed), str(error)]


@workflow
async def survives(ctx: ExecutionContext[str]) -> Any:
    try:
        await anything("exits")
    except TaskProcessCrashed as error:
        first = str(error)
    return [first, await crashes_once(ctx.input), (await square(3))[0]]


@workflow
async def forks(ctx: ExecutionContext[str]) -> None:
    await leaves_a_copy(ctx.input)


@workflow
async def times_out(ctx: ExecutionContext[str]) -> None:
    await computes_forever(ctx.input)


@workflow
async def says(ctx: ExecutionContext[int]) -> list[Any]:
    return await reports(ctx.input)


@workflow
async def sends_a_function(ctx: ExecutionContext[None]) -> None:
    def local() -> None: ...

    await total(Order(1, blob=[0, {"handler": local}]))
