from windlass import ExecutionContext, task, workflow

@workflow
async def job(ctx: ExecutionContext[str]) -> str:
    """Greets.

    And says so.
    """
    return f"Hello, {ctx.input}"
