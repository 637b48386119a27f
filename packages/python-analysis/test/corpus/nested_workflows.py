from windlass import ExecutionContext, task, workflow

@workflow.with_options(namespace="n2", name="deep")
async def c(ctx): ...
@workflow
async def b(ctx): await c(ctx)
@workflow
async def a(ctx):
    await b(ctx)
    await a(ctx)
