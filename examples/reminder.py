"""Sends reminders for months. Between them the execution needs no worker, slot or memory.

The input is an address; the workflow ends after three reminders, 30 days apart.
"""

from datetime import timedelta

from windlass import ExecutionContext, sleep, task, workflow


@task
async def send(address: str, number: int) -> str:
    return f"reminder {number} to {address}"


@workflow
async def remind(ctx: ExecutionContext[str]) -> list[str]:
    sent: list[str] = []
    for number in range(1, 4):
        await sleep(timedelta(days=30))
        sent.append(await send(ctx.input, number))
    return sent
