from windlass import ExecutionContext, task, workflow

@task.with_options(secret_requests=["a"])
async def one(): ...
@task.with_options(secret_requests=["b"])
async def two(): ...

@workflow.with_options(secret_requests=["w"])
async def first(ctx): await one()

@workflow
async def second(ctx): await two()

@workflow
async def third(ctx): await first(ctx)
