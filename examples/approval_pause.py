"""A payment that waits for a decision, however long that takes.

Meanwhile the execution is PAUSED and occupies no worker. Resume it with
`{"approved": true, "by": "your name"}`.
"""

from typing import Any, TypedDict

from windlass import ExecutionContext, pause, task, workflow


class Payment(TypedDict):
    amount: float


@task
async def pay(amount: float) -> str:
    return f"paid {amount}"


@workflow
async def approval_pause(ctx: ExecutionContext[Payment]) -> dict[str, Any]:
    # The output is visible in the paused execution.
    answer = await pause("approve payment", output=ctx.input, type=dict[str, Any])
    if answer.get("approved") is not True:
        return {"result": "refused", "answer": answer}
    return {"result": await pay(ctx.input["amount"]), "answer": answer}
