from windlass import ExecutionContext, task, workflow

@task
async def constructor(): ...
@workflow.with_options(name="__proto__", affinity={"toString": "valueOf"})
async def hasOwnProperty(ctx): await constructor()
