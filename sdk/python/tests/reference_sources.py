"""Sources in the style of the reference release: what its documentation shows its users to write.

Each has a name, the source, the input, the resumes that it needs and the output.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Case(NamedTuple):
    """One source with its input and output."""

    name: str
    source: str
    input: Any
    output: Any
    resumes: tuple[Any, ...] = ()


CASES = [
    Case(
        "hello",
        """
from __future__ import annotations
from flux import ExecutionContext, task, workflow

@task
async def say_hello(name: str):
    return f"Hello, {name}"

@workflow
async def main(ctx: ExecutionContext[str]):
    return await say_hello(ctx.input)
""",
        "Joe",
        "Hello, Joe",
    ),
    Case(
        "modules of the decorators",
        """
from flux.task import task
from flux.workflow import workflow
from flux.domain.execution_context import ExecutionContext

@task
async def double(n):
    return n * 2

@workflow
async def main(ctx: ExecutionContext[int]):
    return await double(ctx.input)
""",
        4,
        8,
    ),
    Case(
        "names of the domain package",
        """
from flux.domain import ExecutionContext, ExecutionEventType, ExecutionState, ResourceRequest
from flux.domain.events import ExecutionState as SameState
from flux import task, workflow

assert SameState is ExecutionState

@workflow
async def main(ctx: ExecutionContext):
    started = [event for event in ctx.events if event.type == ExecutionEventType.WORKFLOW_STARTED]
    return [len(started), ctx.state == ExecutionState.RUNNING]
""",
        None,
        [1, True],
    ),
    Case(
        "modules of the built-in tasks",
        """
from flux import ExecutionContext, task, workflow
from flux.tasks.builtins import now, parallel, pipeline, uuid4
from flux.tasks.call import call
from flux.tasks.graph import Graph
from flux.tasks.pause import pause
from flux.tasks.progress import progress
import flux.tasks

assert flux.tasks.pause is pause and flux.tasks.call is call and flux.tasks.Graph is Graph

@workflow
async def main(ctx: ExecutionContext):
    return len(str(await uuid4()))
""",
        None,
        36,
    ),
    Case(
        "parallel",
        """
from flux import ExecutionContext, task, workflow
from flux.tasks import parallel

@task
async def hi(name: str):
    return f"Hi, {name}"

@task
async def bye(name: str):
    return f"Bye, {name}"

@workflow
async def main(ctx: ExecutionContext[str]):
    return await parallel(hi(ctx.input), bye(ctx.input))
""",
        "Joe",
        ["Hi, Joe", "Bye, Joe"],
    ),
    Case(
        "pipeline",
        """
from flux import ExecutionContext, task, workflow
from flux.tasks import pipeline

@task
async def multiply(x):
    return x * 2

@task
async def add(x):
    return x + 3

@workflow
async def main(ctx: ExecutionContext[int]):
    return await pipeline(multiply, add, multiply, input=ctx.input)
""",
        5,
        26,
    ),
    Case(
        "map",
        """
from flux import ExecutionContext, task, workflow

@task
async def count(text: str):
    return len(text)

@workflow
async def main(ctx: ExecutionContext[list[str]]):
    return await count.map(ctx.input)
""",
        ["a", "bb", ""],
        [1, 2, 0],
    ),
    Case(
        "nested tasks",
        """
from flux import ExecutionContext, task, workflow

@task
async def third():
    return "deepest"

@task
async def second():
    return await third()

@task
async def first():
    return await second()

@workflow
async def main(ctx: ExecutionContext):
    return await first()
""",
        None,
        "deepest",
    ),
    Case(
        "retry with a fallback",
        """
from flux import ExecutionContext, task, workflow

async def instead():
    return "fallback"

@task.with_options(retry_max_attempts=2, retry_delay=0, retry_backoff=2, fallback=instead)
async def fails():
    raise ValueError("no")

@workflow
async def main(ctx: ExecutionContext):
    return await fails()
""",
        None,
        "fallback",
    ),
    Case(
        "failure inside of the execution error",
        """
from flux import ExecutionContext, task, workflow
from flux.errors import ExecutionError

@task
async def fails():
    raise ValueError("no")

@workflow
async def main(ctx: ExecutionContext):
    try:
        await fails()
    except ExecutionError as error:
        return [type(error.inner_exception).__name__, str(error.inner_exception)]
""",
        None,
        ["ValueError", "no"],
    ),
    Case(
        "timeout",
        """
import asyncio
from flux import ExecutionContext, task, workflow
from flux.errors import ExecutionTimeoutError

@task.with_options(timeout=1)
async def sleeps():
    await asyncio.sleep(60)

@workflow
async def main(ctx: ExecutionContext):
    try:
        await sleeps()
    except ExecutionTimeoutError as error:
        return error.timeout
""",
        None,
        1,
    ),
    Case(
        "rollback",
        """
from flux import ExecutionContext, task, workflow

undone = []

async def undo(n):
    undone.append(n)

@task.with_options(rollback=undo)
async def fails(n):
    raise ValueError("no")

@workflow
async def main(ctx: ExecutionContext):
    try:
        await fails(7)
    except Exception:
        return undone
""",
        None,
        [7],
    ),
    Case(
        "pause without a body",
        """
from flux import ExecutionContext, task, workflow
from flux.tasks import pause

@task
async def process():
    return "data"

@workflow
async def main(ctx: ExecutionContext):
    data = await process()
    await pause("review")
    return data + " reviewed"
""",
        None,
        "data reviewed",
        (None,),
    ),
    Case(
        "several pauses with bodies",
        """
from flux import ExecutionContext, workflow
from flux.tasks import pause

@workflow
async def main(ctx: ExecutionContext):
    first = await pause("first", output={"asked": ctx.input})
    second = await pause("second")
    return {"first": first, "second": second}
""",
        "q",
        {"first": 1, "second": {"ok": True}},
        (1, {"ok": True}),
    ),
    Case(
        "graph",
        """
from flux import ExecutionContext, task, workflow
from flux.tasks import Graph

@task
async def get_name(input: str) -> str:
    return input

@task
async def say_hello(name: str) -> str:
    return f"Hello, {name}"

@workflow
async def main(ctx: ExecutionContext[str]):
    hello = (
        Graph("hello")
        .add_node("get_name", get_name)
        .add_node("say_hello", say_hello)
        .add_edge("get_name", "say_hello")
        .start_with("get_name")
        .end_with("say_hello")
    )
    return await hello(ctx.input)
""",
        "Joe",
        "Hello, Joe",
    ),
    Case(
        "graph with terminals and an asynchronous condition",
        """
from flux import ExecutionContext, task, workflow
from flux.tasks import Graph

@task
async def check(n):
    return n

@task
async def large(n):
    return f"{n} is large"

@task
async def small(n):
    return f"{n} is small"

async def is_large(n):
    return n > 10

async def is_small(n):
    return n <= 10

@workflow
async def main(ctx: ExecutionContext[int]):
    graph = Graph("sizes")
    for name, action in (("check", check), ("large", large), ("small", small)):
        graph.add_node(name, action)
    graph.add_edge(Graph.START.name, "check")
    graph.add_edge("check", "large", condition=is_large)
    graph.add_edge("check", "small", condition=is_small)
    graph.add_edge("large", Graph.END.name).add_edge("small", Graph.END.name)
    return await graph(ctx.input)
""",
        42,
        "42 is large",
    ),
]
