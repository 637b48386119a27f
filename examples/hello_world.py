"""The smallest workflow: one task, one result.

npx windlass workflow run hello_world '"World"'   # "Hello, World"
"""

from windlass import ExecutionContext, task, workflow


@task
async def say_hello(name: str) -> str:
    return f"Hello, {name}"


@workflow
async def hello_world(ctx: ExecutionContext[str]) -> str:
    return await say_hello(ctx.input)
