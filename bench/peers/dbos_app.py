"""The work items as workflows of DBOS, on the PostgreSQL of `DATABASE_URL`; load by `loads.py`."""

import asyncio
import os

from dbos import DBOS
from loads import serve_loads

DBOS(
    config={
        "name": "bench",
        "system_database_url": os.environ["DATABASE_URL"],
        "run_admin_server": False,
        "log_level": "WARNING",
    }
)


@DBOS.step()
async def say_hello(name: str) -> str:
    return f"Hello, {name}"


@DBOS.step()
async def step(number: int) -> int:
    return number


@DBOS.workflow()
async def hello(name: str) -> str:
    return await say_hello(name)


@DBOS.workflow()
async def steps(count: int) -> int:
    for number in range(count):
        await step(number)
    return count


async def main() -> None:
    DBOS.launch()
    await serve_loads({"hello": lambda: hello("World"), "steps": lambda: steps(10)})


asyncio.run(main())
