"""Payments above a limit need an approval; all others are made at once.

The execution is PAUSED and occupies no worker until
`POST /executions/{id}/approvals/{call}/approve` or `…/reject` is called.
"""

from windlass import ApprovalRejected, ExecutionContext, task, workflow

LIMIT = 1000


def is_large(amount: float) -> bool:
    return amount > LIMIT


@task.with_options(requires_approval=is_large)
async def pay(amount: float) -> str:
    return f"paid {amount:g}"


@workflow
async def pay_invoices(ctx: ExecutionContext[list[float]]) -> list[str]:
    results: list[str] = []
    for amount in ctx.input:
        try:
            results.append(await pay(amount))
        except ApprovalRejected as rejected:
            results.append(f"not paid {amount:g}: {rejected.reason}")
    return results
