from windlass import ExecutionContext, task, workflow

@workflow
async def job(ctx: ExecutionContext, more: ExecutionContext[int] = None): ...
