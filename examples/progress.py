"""A task that reports its progress. Run it as a stream to watch."""

import asyncio

from windlass import ExecutionContext, progress, task, workflow


@task
async def count(lines: list[str]) -> int:
    words = 0
    for number, line in enumerate(lines, start=1):
        words += len(line.split())
        progress({"lines": number, "of": len(lines), "words": words})
        await asyncio.sleep(0.05)
    return words


@workflow
async def count_words(ctx: ExecutionContext[list[str]]) -> int:
    return await count(ctx.input)
