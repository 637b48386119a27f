from windlass import ExecutionContext, task, workflow
@workflow
async def job(ctx):
	if 1:
        return 1
