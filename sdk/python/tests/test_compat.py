"""Sources of the reference release run unchanged, and what does not exist here says so."""

from __future__ import annotations

import base64
import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import windlass
from reference_sources import CASES, Case
from reference_sources_more import MORE_CASES
from windlass import ExecutionContext, compat, workflow
from windlass.compat import utils
from windlass.errors import ExecutionContextNotFoundError
from windlass.worker._models import Source
from windlass.worker._modules import load_module

ALL = [*CASES, *MORE_CASES]


def test_there_are_thirty_sources() -> None:
    assert len({case.name for case in ALL}) >= 30


@pytest.mark.parametrize("case", ALL, ids=[case.name for case in ALL])
def test_source_of_the_reference_release_runs_unchanged(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    compat.install()
    text = base64.b64encode(case.source.encode()).decode()
    name = case.name.replace(" ", "_")
    module = load_module(Source(f"reference_{name}", "default", name, 1, text))
    workflow = module.anything if hasattr(module, "anything") else module.main
    context = workflow.run(case.input)
    for body in case.resumes:
        assert context.is_paused
        context = workflow.resume(context.execution_id, body)
    assert context.has_succeeded, context.to_json()
    assert json.loads(json.dumps(context.output)) == case.output


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("flux.tasks.ai", "vendor"),
        ("flux.tasks.mcp", "MCP client"),
        ("flux.server", "HTTP API"),
        ("flux.catalogs", "HTTP API"),
        ("flux.secret_managers", "secret_requests"),
        ("flux.config", "svc.toml"),
        ("flux.encoders", "windlass.values.register"),
    ],
)
def test_module_of_the_server_or_of_helpers_is_refused_naming_the_replacement(
    name: str, use: str
) -> None:
    compat.install()
    importlib.import_module("flux")
    with pytest.raises(ImportError, match=r"flux\.tasks\.ai does not exist here"):
        importlib.import_module("flux.tasks.ai.memory")
    with pytest.raises(ImportError, match=f"{name} does not exist here: .*{use}"):
        importlib.import_module(name)


def test_name_of_an_absent_module_is_refused_naming_the_replacement() -> None:
    with pytest.raises(ImportError, match="create_schedule_manager does not exist here"):
        exec("from flux import create_schedule_manager")


def test_module_of_the_alias_is_bound_by_every_form_of_import() -> None:
    compat.install()
    names: dict[str, Any] = {}
    exec(
        "import flux.tasks.graph as graph, flux.routing as routing, flux.domain.schedule\n"
        "import flux.tasks\n"
        "from flux import domain, tasks\n"
        "from flux.tasks import pause",
        names,
    )
    assert names["graph"].Graph is names["tasks"].Graph is windlass.Graph
    assert names["tasks"].graph is names["flux"].tasks.graph is names["graph"]
    assert names["tasks"] is names["flux"].tasks
    assert names["domain"].schedule.cron is names["flux"].domain.schedule.cron is windlass.cron
    assert names["routing"].InputRef is windlass.routing.Input
    # The task, and not the module of the same name.
    assert importlib.import_module("flux.tasks.pause").pause is names["pause"] is windlass.pause
    assert names["tasks"].pause is windlass.pause


def test_importing_compat_in_a_script_gives_the_alias(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import windlass.compat\nfrom flux import workflow\n"
        "@workflow\nasync def main(ctx): return ctx.input\n"
        "print(main.run(5).output)"
    )
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert (run.stdout, run.returncode) == ("5\n", 0), run.stderr


def test_schedules_are_imported_from_domain() -> None:
    compat.install()
    names = importlib.import_module("flux.domain")
    schedule = names.CronSchedule("0 9 * * *")
    assert names.schedule_factory(schedule.to_dict()) == schedule
    assert issubclass(names.IntervalSchedule, names.Schedule)
    assert issubclass(names.OnceSchedule, names.Schedule)


async def test_context_outside_of_an_execution_is_refused() -> None:
    with pytest.raises(ExecutionContextNotFoundError, match="no execution runs here"):
        await ExecutionContext.get()


def test_context_without_an_id_gets_a_new_one() -> None:
    first, second = ExecutionContext[None](), ExecutionContext[None]()
    assert first.execution_id != second.execution_id
    assert not first.has_started
    assert not any((first.is_claimed, first.is_scheduled, first.is_resuming, first.has_resumed))


def test_context_is_restored_from_its_members_and_from_its_text() -> None:
    @workflow
    async def doubles(ctx: ExecutionContext[int]) -> int:
        return 2 * ctx.input

    context = doubles.run(21)
    for form in (context.to_dict(), context.to_json(), context.to_json().encode()):
        restored = ExecutionContext.from_json(form)
        assert restored.to_dict() == context.to_dict()
        assert (restored.output, restored.has_succeeded) == (42, True)
    for text in ("[1]", "null", "{"):
        with pytest.raises(ValueError, match=r"JSON object|property name"):
            ExecutionContext.from_json(text)


def test_context_without_its_workflow_is_refused_naming_the_member() -> None:
    with pytest.raises(KeyError, match="workflow_name"):
        ExecutionContext.from_json({"execution_id": "1"})


def test_module_is_imported_from_a_file_or_folder(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("value = 1")
    assert utils.import_module_from_file(str(tmp_path)).value == 1
    assert utils.import_module_from_file(str(tmp_path / "__init__.py")).value == 1
    with pytest.raises(ValueError, match="is not a Python file"):
        utils.import_module_from_file(str(tmp_path / "x.txt"))


def test_helpers_name_functions_and_loggers() -> None:
    assert utils.get_func_args(lambda a, b: None, (1, len)) == {"a": 1, "b": "len"}
    assert utils.get_logger("x").name == "windlass.x"
    assert utils.get_logger("windlass.x").name == "windlass.x"
    assert utils.import_module("json") is json
    assert utils.make_hashable({"a": {1}, "b": object}) is not None


TOP_LEVEL = """
import asyncio
import windlass.compat
from flux import ExecutionContext, task, workflow
from flux.tasks import pause

@task
async def double(n):
    return n * 2

@workflow
async def main(ctx: ExecutionContext[int]):
    return await double(ctx.input)

@workflow
async def asks(ctx: ExecutionContext[int]):
    return [ctx.input, await pause("review")]

@workflow
async def fails(ctx: ExecutionContext[int]):
    raise ValueError("no")

async def top():
    ctx = ExecutionContext(workflow_name="main", input=5)
    same = await main(ctx)
    again = await main(ctx)
    failed = await fails(ExecutionContext(input=1))
    print(same is ctx, again is ctx, ctx.has_succeeded, ctx.output, failed.has_failed)

asyncio.run(top())
paused = asks.run(3)
ended = asks.run("body", execution_id=paused.execution_id)
print(paused.is_paused, ended.output, asks.run(execution_id=ended.execution_id) is ended)
"""


def test_workflow_is_awaited_and_continued_at_the_top_level_of_a_script(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(TOP_LEVEL)
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    expected = "True True True 10 True\nTrue [3, 'body'] True\n"
    assert (run.stdout, run.returncode) == (expected, 0), run.stderr


async def test_result_of_a_workflow_is_awaited_inside_of_another_one() -> None:
    @workflow
    async def inner(ctx: ExecutionContext[int]) -> int:
        return ctx.input + 1

    @workflow
    async def outer(ctx: ExecutionContext[int]) -> int:
        return await inner(ctx) + 1

    assert (await outer.arun(1)).result() == 3


def test_unknown_execution_id_is_refused() -> None:
    @workflow
    async def main(ctx: ExecutionContext[None]) -> None: ...

    with pytest.raises(ExecutionContextNotFoundError, match="no execution 'x' in this process"):
        main.run(execution_id="x")
