from windlass import ExecutionContext, task, workflow


@task.with_options(process=True, timeout=60)
def plain(limit: int) -> int:
    return sum(range(limit))


@workflow
async def counts(ctx: ExecutionContext[int]) -> int:
    return await plain(ctx.input)
