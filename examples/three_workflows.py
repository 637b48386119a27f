"""Three workflows in one file, one of them in a namespace of its own. The last calls the others."""

from windlass import ExecutionContext, parallel, task, workflow


@task
async def add_up(numbers: list[float]) -> float:
    return sum(numbers)


@task
async def divide(dividend: float, divisor: float) -> float:
    return dividend / divisor


@workflow
async def total(ctx: ExecutionContext[list[float]]) -> float:
    return await add_up(ctx.input)


@workflow
async def average(ctx: ExecutionContext[list[float]]) -> float:
    return await divide(await add_up(ctx.input), len(ctx.input))


@workflow.with_options(name="summary", namespace="statistics")
async def summary(ctx: ExecutionContext[list[float]]) -> dict[str, float]:
    sum_of_all, mean = await parallel(total(ctx), average(ctx))
    return {"total": sum_of_all, "average": mean}
