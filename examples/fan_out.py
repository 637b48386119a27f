"""Many calls of one task, at most eight at a time. The input is the number of pages."""

import asyncio

from windlass import ExecutionContext, task, workflow


@task
async def count_words(page: int) -> int:
    await asyncio.sleep(0)  # a real task would read the page
    return len(f"page {page} of the book".split()) + page % 7


@task
async def add(counts: list[int]) -> int:
    return sum(counts)


@workflow
async def count_book(ctx: ExecutionContext[int]) -> int:
    return await add(await count_words.map(range(ctx.input), limit=8))
