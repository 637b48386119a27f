from windlass import ExecutionContext, task, workflow

@workflow
async def b(ctx): ...

@workflow.with_options(namespace="other")
async def a(ctx): await b(ctx)

@workflow.with_options(name="Ünïcode name.1_-")
async def c(ctx): ...
