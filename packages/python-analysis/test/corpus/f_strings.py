from windlass import ExecutionContext, task, workflow

x = 1

@workflow.with_options(name=f"plain")
async def job(ctx):
    return f"{ctx.input!r:>{10}} {{}} {'a' if 1 else f'{2}'} {x=}" rf"\d{1}"
