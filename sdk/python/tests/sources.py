"""Workflow sources that the worker tests upload."""

SOURCE = '''
import asyncio, os, threading, time
from windlass import ExecutionContext, call, parallel, pause, progress, sleep, task, workflow
from windlass.secrets import previous_secret

HERE = {gate!r}

@task
async def say_hello(name: str) -> str:
    return f"Hello, {{name}}"

@workflow
async def hello(ctx: ExecutionContext[str]) -> str:
    return await say_hello(ctx.input)

@workflow
async def echo(ctx: ExecutionContext):
    return ctx.input

def note(name: str) -> None:
    with open(os.path.join(HERE, "ledger"), "a") as ledger:
        ledger.write(name + "\\n")

@task
async def gate(name: str) -> str:
    """Records its start; returns when the test has created a file of its name."""
    note(name)
    while not os.path.exists(os.path.join(HERE, name)):
        await asyncio.sleep(0.005)
    return name

@workflow
async def gates(ctx: ExecutionContext[list[str]]) -> list[str]:
    return [await gate(name) for name in ctx.input]

@workflow
async def asks(ctx: ExecutionContext):
    first = await pause("first", output={{"asked": ctx.input}})
    second = await pause("second")
    return [first, second]

@workflow
async def ignores(ctx: ExecutionContext):
    await pause("first")
    await pause("second")
    return "ended"

@workflow
async def tidy(ctx: ExecutionContext):
    try:
        await gate("never")
    except asyncio.CancelledError:
        await say_hello("clean up")
        raise

@workflow
async def tidy_at_gate(ctx: ExecutionContext):
    try:
        await gate("never")
    except asyncio.CancelledError:
        await gate("tidied")
        raise

@workflow
async def completes_anyway(ctx: ExecutionContext):
    try:
        await gate("never")
    except asyncio.CancelledError:
        return "completed anyway"

@workflow
async def ignores_cancel(ctx: ExecutionContext):
    while True:
        try:
            await gate("never")
        except asyncio.CancelledError:
            pass

def block(name: str) -> str:
    note(name)
    while not os.path.exists(os.path.join(HERE, name)):
        time.sleep(0.005)
    return threading.current_thread().name

@workflow
async def blocks(ctx: ExecutionContext[str]):
    return block(ctx.input)

@task
def blocking_task(name: str) -> str:
    return block(name)

@workflow
async def blocks_in_a_thread(ctx: ExecutionContext[str]):
    return await blocking_task(ctx.input)

@workflow
async def fails(ctx: ExecutionContext):
    raise ValueError("no luck")

@task
async def steps(count: int) -> int:
    for step in range(count):
        progress({{"step": step}})
    return count

@workflow
async def reports_steps(ctx: ExecutionContext[int]):
    return await steps(ctx.input)

@task
async def big(size: int) -> str:
    return "x" * size

@workflow
async def bigs(ctx: ExecutionContext[list[int]]):
    for size in ctx.input:
        await big(size)

@task
async def one(n: int) -> int:
    return n

@workflow
async def many(ctx: ExecutionContext[int]):
    return sum(await parallel(*[one(n) for n in range(ctx.input)]))

@task.with_options(secret_requests=["key"], config_requests=["limit"])
async def informed(secrets, config) -> list:
    return [secrets["key"], config["limit"]]

@workflow
async def informs(ctx: ExecutionContext):
    return await informed()

@task.with_options(secret_requests=["key"])
async def rotated(secrets) -> list:
    return [secrets["key"], await previous_secret("key")]

@workflow
async def rotates(ctx: ExecutionContext):
    return await rotated()

@task.with_options(requires_approval=True)
async def pay(amount: int) -> str:
    return f"paid {{amount}}"

@workflow
async def pays(ctx: ExecutionContext[int]):
    return await pay(ctx.input)

@workflow
async def calls(ctx: ExecutionContext):
    return await call("billing/invoice", {{"n": 1}})

@workflow
async def exits(ctx: ExecutionContext):
    async def bare():
        raise SystemExit(1)
    await asyncio.gather(bare())
'''
