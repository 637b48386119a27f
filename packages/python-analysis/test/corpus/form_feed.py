from windlass import ExecutionContext, task, workflow

@workflow
async def job(ctx):
    pass
    
x = 1
