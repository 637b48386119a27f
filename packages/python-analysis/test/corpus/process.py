from windlass import ExecutionContext, task, workflow


@task.with_options(process=True, timeout=60)
def count(limit: int) -> int:
    return sum(range(limit))


@workflow
async def counts(ctx: ExecutionContext[int]) -> int:
    return await count(ctx.input)
