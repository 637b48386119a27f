import asyncio

from windlass import ExecutionContext, call, parallel, sleep, task, workflow


@task
async def say_hello(name: str) -> str:
    return f"Hello, {name}"


@task
async def add_one(number: int) -> int:
    return number + 1


@task
async def count(rows: list) -> int:
    return len(rows)


@workflow
async def hello(ctx: ExecutionContext[str]) -> str:
    return await say_hello(ctx.input)


@workflow
async def hello_printed(ctx: ExecutionContext[str]) -> str:
    print("about to say hello to", ctx.input)
    return await say_hello(ctx.input)


@workflow
async def hundred(ctx: ExecutionContext) -> int:
    return len(await parallel(*[add_one(number) for number in range(100)]))


@workflow
async def large(ctx: ExecutionContext) -> int:
    rows = ctx.input["megabytes"] * 10_000
    return await count([{"id": n, "name": "Ada Lovelace", "tags": ["a", "b"], "price": 12.5,
                         "ok": True, "note": None} for n in range(rows)])


@workflow
async def minute(ctx: ExecutionContext) -> str:
    await sleep(60)
    return "awake"


@workflow
async def parent(ctx: ExecutionContext) -> str:
    return await call(hello, "World")


@workflow
async def until_released(ctx: ExecutionContext) -> str:
    while ctx.input != ctx.execution_id:
        await asyncio.sleep(0.05)
    return "released"
