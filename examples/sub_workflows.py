"""A workflow that runs others as executions of their own, each with its log, retries and state.

Cancelling the order cancels the deliveries that it waits for, but not the newsletter.
"""

from dataclasses import dataclass

from windlass import ExecutionContext, call, parallel, task, workflow


@dataclass
class Parcel:
    city: str
    items: int


@task
async def pack(parcel: Parcel) -> str:
    return f"{parcel.items} items for {parcel.city}"


@workflow
async def deliver(ctx: ExecutionContext[Parcel]) -> str:
    return await pack(ctx.input)


@workflow
async def send_newsletter(ctx: ExecutionContext[str]) -> str:
    return f"sent to {ctx.input}"


@workflow
async def ship_order(ctx: ExecutionContext[list[Parcel]]) -> list[str]:
    await call(send_newsletter, "the customer", mode="async", on_cancel="leave")
    return await parallel(*[call(deliver, parcel) for parcel in ctx.input], limit=4)
