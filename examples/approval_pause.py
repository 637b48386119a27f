"""A payment that waits for somebody's word, for as long as that takes.

The execution stands at PAUSED and occupies no worker. Resume it with
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
    # What is given as output is shown to whoever looks at the paused execution.
    answer = await pause("approve payment", output=ctx.input)
    if not (isinstance(answer, dict) and answer.get("approved") is True):
        return {"result": "refused", "answer": answer}
    return {"result": await pay(ctx.input["amount"]), "answer": answer}
