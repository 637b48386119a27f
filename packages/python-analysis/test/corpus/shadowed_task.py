from windlass import ExecutionContext, task, workflow

@task.with_options(secret_requests=["a"])
async def t(): ...
@workflow
async def job(ctx):
    t = print
    t()
