from windlass import ExecutionContext, task, workflow
@workflow
async def job(ctx):
	if ctx:
		return 1
	return 2
