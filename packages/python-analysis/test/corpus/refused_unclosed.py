from windlass import ExecutionContext, task, workflow
@workflow
async def job(ctx):
    x = (1,
