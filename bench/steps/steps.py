"""Steps that do nothing: what the benchmark measures is the cost of recording them."""

from windlass import ExecutionContext, task, workflow


@task.with_options(name="step_{number}")
async def step(number: int) -> int:
    return number


@workflow
async def sequential_steps(ctx: ExecutionContext[int]) -> int:
    for number in range(ctx.input):
        await step(number)
    return ctx.input


@workflow
async def parallel_steps(ctx: ExecutionContext[int]) -> int:
    return len(await step.map(range(ctx.input)))
