"""Further sources in the style of the reference release."""

from __future__ import annotations

from reference_sources import Case

MORE_CASES = [
    Case(
        "graph with a node after two others",
        """
from flux import ExecutionContext, task, workflow
from flux.tasks import Graph

@task
async def one(n):
    return n + 1

@task
async def two(n):
    return n + 2

@task
async def both(a, b):
    return [a, b]

@workflow
async def main(ctx: ExecutionContext[int]):
    graph = Graph("join").add_node("one", one).add_node("two", two).add_node("both", both)
    graph.start_with("one").start_with("two").end_with("both")
    return await graph.add_edge("one", "both").add_edge("two", "both")(ctx.input)
""",
        1,
        [2, 3],
    ),
    Case(
        "call of another workflow",
        """
from flux import ExecutionContext, call, task, workflow

@workflow
async def child(ctx: ExecutionContext[int]):
    return ctx.input * 2

@workflow
async def main(ctx: ExecutionContext[int]):
    return [await call(child, ctx.input), await call(child, ctx.input + 1)]
""",
        3,
        [6, 8],
    ),
    Case(
        "context inside of a task",
        """
from flux import ExecutionContext, task, workflow

@task
async def who():
    ctx = await ExecutionContext.get()
    return [ctx.workflow_name, ctx.has_started, ctx.has_finished, ctx.is_cancelled]

@workflow
async def main(ctx: ExecutionContext):
    return await who()
""",
        None,
        ["main", True, False, False],
    ),
    Case(
        "summary of the context",
        """
from flux import ExecutionContext, workflow

@workflow
async def main(ctx: ExecutionContext[str]):
    copy = ExecutionContext.from_json(ctx.to_dict())
    same = copy.execution_id == ctx.execution_id and copy.has_started
    return [sorted(ctx.summary()), same, copy.input]
""",
        "in",
        [
            [
                "current_worker",
                "execution_id",
                "input",
                "output",
                "state",
                "workflow_id",
                "workflow_name",
                "workflow_namespace",
            ],
            True,
            "in",
        ],
    ),
    Case(
        "options of the workflow",
        """
from flux import ExecutionContext, workflow
from flux.domain.resource_request import ResourceRequest
from flux.domain.schedule import cron
from flux.routing import input, label, least, load, prefer, score, sticky

@workflow.with_options(
    name="main",
    namespace="billing",
    requests=ResourceRequest(cpu=1, memory="1Gi"),
    affinity={"region": "eu"},
    schedule=cron("0 9 * * MON-FRI", "UTC"),
    routing=score(prefer(label("region") == input("region"), weight=2), sticky(weight=3),
                  least(load())),
)
async def anything(ctx: ExecutionContext):
    return anything.qualified_name
""",
        None,
        "billing/main",
    ),
    Case(
        "schedule with positional arguments",
        """
from flux import ExecutionContext, interval, workflow
from flux.domain.schedule import CronSchedule, schedule_factory

@workflow.with_options(schedule=interval(3600))
async def main(ctx: ExecutionContext):
    daily = schedule_factory(CronSchedule("0 9 * * *").to_dict())
    return [main.schedule.to_dict()["interval_seconds"], daily.cron_expression]
""",
        None,
        [3600, "0 9 * * *"],
    ),
    Case(
        "name template and metadata",
        """
from flux import ExecutionContext, TaskMetadata, task, workflow

@task.with_options(name="fetch_{url}", metadata=True)
async def fetch(url: str, metadata: TaskMetadata):
    return metadata.task_name

@workflow
async def main(ctx: ExecutionContext[str]):
    return await fetch(ctx.input)
""",
        "a",
        "fetch_a",
    ),
    Case(
        "recorded values",
        """
from flux import ExecutionContext, workflow
from flux.tasks import choice, now, randint, randrange

@workflow
async def main(ctx: ExecutionContext):
    values = [await choice([1, 2]), await randint(1, 6), await randrange(0, 10, 5)]
    moment = await now()
    return [values[0] in (1, 2), 1 <= values[1] <= 6, values[2] in (0, 5), moment is not None]
""",
        None,
        [True, True, True, True],
    ),
    Case(
        "sleep",
        """
from datetime import timedelta
from flux import ExecutionContext, workflow
from flux.tasks import sleep

@workflow
async def main(ctx: ExecutionContext):
    await sleep(timedelta(milliseconds=1))
    await sleep(0.001)
    return "awake"
""",
        None,
        "awake",
    ),
    Case(
        "synchronous tasks and body",
        """
from flux import ExecutionContext, task, workflow

@task
def add(a, b=1):
    return a + b

@workflow
async def main(ctx: ExecutionContext[int]):
    return [await add(ctx.input), await add(ctx.input, b=5)]
""",
        1,
        [2, 6],
    ),
    Case(
        "input that is missing",
        """
from flux import ExecutionContext, workflow

@workflow
async def main(ctx: ExecutionContext[dict]):
    options = ctx.input or {"size": 3}
    return options["size"]
""",
        None,
        3,
    ),
    Case(
        "progress",
        """
from flux import ExecutionContext, task, workflow
from flux.tasks import progress

@task
async def work(n):
    for i in range(n):
        await progress({"done": i})
    return n

@workflow
async def main(ctx: ExecutionContext[int]):
    return await work(ctx.input)
""",
        3,
        3,
    ),
    Case(
        "output storage",
        """
from flux import ExecutionContext, task, workflow
from flux.output_storage import LocalFileStorage

storage = LocalFileStorage("outputs")

@task.with_options(output_storage=storage)
async def big():
    return {"rows": [1, 2, 3]}

@workflow
async def main(ctx: ExecutionContext):
    return sum((await big())["rows"])
""",
        None,
        6,
    ),
    Case(
        "helpers of the module utils",
        """
import logging
from flux import ExecutionContext, workflow
from flux.utils import get_logger, make_hashable, maybe_awaitable, parse_value, to_json

logger = get_logger(__name__)

async def later():
    return "later"

@workflow
async def main(ctx: ExecutionContext):
    logger.info("runs")
    values = [await maybe_awaitable(3), await maybe_awaitable(later())]
    parsed = [parse_value(text) for text in ("1", "1.5", "true", "none", "[1]", "text")]
    return [values, parsed, to_json({"a": {1}}), hash(make_hashable({"a": [1]})) is not None]
""",
        None,
        [
            [3, "later"],
            [1, 1.5, True, None, [1], "text"],
            '{\n    "a": [\n        1\n    ]\n}',
            True,
        ],
    ),
]
