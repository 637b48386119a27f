"""Three workflows in one file, sharing a task; the last is in a namespace of its own and runs the
others concurrently."""

from windlass import ExecutionContext, parallel, task, workflow


@task
async def multiply(a: float, b: float) -> float:
    return a * b


@workflow
async def double(ctx: ExecutionContext[float]) -> float:
    return await multiply(ctx.input, 2)


@workflow
async def square(ctx: ExecutionContext[float]) -> float:
    return await multiply(ctx.input, ctx.input)


@workflow.with_options(name="summary", namespace="arithmetic")
async def summarize(ctx: ExecutionContext[float]) -> dict[str, float]:
    doubled, squared = await parallel(double(ctx), square(ctx))
    return {"double": doubled, "square": squared}
