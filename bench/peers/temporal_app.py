"""The work items as workflows of Temporal: `worker ADDRESS` runs, `load ADDRESS` starts them."""

import asyncio
import sys
from datetime import timedelta
from uuid import uuid4

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import Worker

with workflow.unsafe.imports_passed_through():
    from loads import serve_loads

QUEUE = "bench"
LIMIT = timedelta(seconds=30)


@activity.defn
async def say_hello(name: str) -> str:
    return f"Hello, {name}"


@activity.defn
async def step(number: int) -> int:
    return number


@workflow.defn
class Hello:
    @workflow.run
    async def run(self, name: str) -> str:
        return await workflow.execute_activity(say_hello, name, start_to_close_timeout=LIMIT)


@workflow.defn
class Steps:
    @workflow.run
    async def run(self, count: int) -> int:
        for number in range(count):
            await workflow.execute_activity(step, number, start_to_close_timeout=LIMIT)
        return count


async def main(role: str, address: str) -> None:
    client = await Client.connect(address)
    if role == "worker":
        await Worker(
            client, task_queue=QUEUE, workflows=[Hello, Steps], activities=[say_hello, step]
        ).run()
        return

    async def execute(run: object, value: object) -> None:
        await client.execute_workflow(run, value, id=uuid4().hex, task_queue=QUEUE)

    await serve_loads(
        {"hello": lambda: execute(Hello.run, "World"), "steps": lambda: execute(Steps.run, 10)}
    )


# The worker imports this file again for each workflow.
if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
