"""Ten tasks in sequence. Kill the worker in the middle: another worker runs the remaining tasks.

The input is the duration of each task in seconds (default 0.2).
"""

import asyncio

from windlass import ExecutionContext, task, workflow

DEFAULT_SECONDS = 0.2


@task.with_options(name="step_{number}")
async def step(number: int, seconds: float) -> int:
    await asyncio.sleep(seconds)
    return number


@workflow
async def ten_tasks(ctx: ExecutionContext[float | None]) -> list[int]:
    seconds = DEFAULT_SECONDS if ctx.input is None else ctx.input
    return [await step(number, seconds) for number in range(1, 11)]
