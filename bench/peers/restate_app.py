"""The work items as a service of Restate; hypercorn serves `app`."""

import restate
from restate import Context, Service

bench = Service("Bench")


async def say_hello(name: str) -> str:
    return f"Hello, {name}"


async def step(number: int) -> int:
    return number


@bench.handler()
async def hello(ctx: Context, name: str) -> str:
    return await ctx.run_typed("say_hello", say_hello, name=name)


@bench.handler()
async def steps(ctx: Context, count: int) -> int:
    for number in range(count):
        await ctx.run_typed(f"step_{number}", step, number=number)
    return count


app = restate.app([bench])
