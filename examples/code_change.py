"""A code change that does not affect executions that are already past it.

The first version of this source had no `add_tax`. Executions that had passed this point before the
change continue without it; all others take the new path. When the old ones have ended, replace
`patched` by `patch_done("2026-11-tax")`, and later remove both.
"""

from windlass import ExecutionContext, patched, pause, task, workflow


@task
async def price(item: str) -> float:
    return float(len(item))


@task
async def add_tax(amount: float) -> float:
    return round(amount * 1.2, 2)


@task
async def charge(amount: float) -> str:
    return f"charged {amount:.2f}"


@workflow
async def order(ctx: ExecutionContext[list[str]]) -> str:
    amount = 0.0
    for item in ctx.input:
        amount += await price(item)
    if patched("2026-11-tax"):
        amount = await add_tax(amount)
    await pause("confirm", output=amount)
    return await charge(amount)
