"""An order that waits for somebody's word, for as long as that takes.

The execution stands at PAUSED and occupies nothing. Resume it with `{"approved": true}`.
"""

from typing import Any, TypedDict

from windlass import ExecutionContext, pause, task, workflow


class Order(TypedDict):
    item: str
    price: float


@task
async def place(item: str) -> bool:
    return True


@workflow
async def order(ctx: ExecutionContext[Order]) -> dict[str, Any]:
    # What is given as output is shown to whoever looks at the paused execution.
    answer = await pause("approve order", output=ctx.input)
    approved = isinstance(answer, dict) and answer.get("approved") is True
    return {"item": ctx.input["item"], "ordered": approved and await place(ctx.input["item"])}
