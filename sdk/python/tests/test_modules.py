"""Uploaded sources as modules."""

from __future__ import annotations

import asyncio
import base64
import importlib
import sys
import threading
import traceback
from typing import Any

import pytest

import windlass
from run_fixture import pass_time
from windlass import ExecutionContext, compat
from windlass.errors import ImportTimeout, WorkflowNotFoundError
from windlass.worker import _modules
from windlass.worker._models import Source
from windlass.worker._modules import Modules

TWO = """
from dataclasses import dataclass
from windlass import ExecutionContext, task, workflow

@dataclass
class Made:
    n: "int"

@task
async def fails(n: int) -> Made:
    raise ValueError("here")

@workflow
async def one(ctx: ExecutionContext) -> int:
    return 1

@workflow.with_options(name="renamed", namespace="other")
async def two(ctx: ExecutionContext) -> int:
    return 2

NAME = "com" + "puted"

@workflow.with_options(name=NAME)
async def three(ctx: ExecutionContext) -> int:
    await fails.func(1)
"""

OLD = """
from flux import ExecutionContext, task as one, workflow
from flux.task import task
from flux.workflow import workflow as same
from flux.tasks import now, parallel, pause, progress, sleep, uuid4
from flux.tasks.config_task import get_config
from flux.domain.execution_context import ExecutionContext as Context
from flux.domain.resource_request import ResourceRequest
from flux.domain.schedule import cron, interval, once
from flux.routing import score
from flux.errors import ExecutionError
from flux.approvals import ApprovalRejected
from flux.output_storage import LocalFileStorage
from flux.decorators import task as decorated
from flux import task as again

assert one is task is decorated is again
assert workflow is same and Context is ExecutionContext

@workflow
async def old(ctx: ExecutionContext[str]):
    return ctx.input
"""


def source(
    text: str, name: str, namespace: str = "default", id: str = "i", version: int = 1
) -> Source:
    return Source(id, namespace, name, version, base64.b64encode(text.encode()).decode())


@pytest.mark.parametrize(
    ("namespace", "name", "found"),
    [("default", "one", "one"), ("other", "renamed", "two"), ("default", "three", "three")],
)
async def test_each_workflow_of_a_source_is_found(namespace: str, name: str, found: str) -> None:
    workflow = await Modules().load_workflow(source(TWO, name, namespace))
    assert workflow.func.__name__ == found


async def test_missing_workflow_raises_workflow_not_found() -> None:
    with pytest.raises(WorkflowNotFoundError, match="defines no workflow 'default/four'"):
        await Modules().load_workflow(source(TWO, "four"))


async def test_concurrent_loads_compile_a_source_once() -> None:
    counting = "import sys\nsys.counted = getattr(sys, 'counted', 0) + 1\n" + TWO
    modules = Modules()
    found = await asyncio.gather(
        *[modules.load_workflow(source(counting, "one")) for _ in range(5)]
    )
    assert len({id(workflow) for workflow in found}) == 1
    assert sys.counted == 1  # type: ignore[attr-defined]
    await modules.load_workflow(source(counting, "one", version=2))
    assert sys.counted == 2  # type: ignore[attr-defined]


async def test_least_recently_used_modules_are_evicted() -> None:
    modules = Modules(max_modules=2)
    for version in (1, 2, 1, 3):
        await modules.load_workflow(source(TWO, "one", id="lru", version=version))
    kept = [name for name in sys.modules if name.startswith("windlass_source_lru")]
    assert sorted(kept) == ["windlass_source_lru_1", "windlass_source_lru_3"]


async def test_module_of_a_run_stays_while_others_are_loaded() -> None:
    modules = Modules(max_modules=2)
    used = source(TWO, "one", id="used")
    with modules.using(used):
        workflow = await modules.load_workflow(used)
        for version in (1, 2, 3):
            await modules.load_workflow(source(TWO, "one", id="others", version=version))
        assert await modules.load_workflow(used) is workflow
        assert workflow.func.__module__ in sys.modules
        for version in (4, 5):
            await modules.load_workflow(source(TWO, "one", id="others", version=version))
    await modules.load_workflow(source(TWO, "one", id="others", version=6))
    assert workflow.func.__module__ not in sys.modules


async def test_broken_source_fails_each_time_and_leaves_no_module() -> None:
    modules = Modules()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            await modules.load_workflow(source("1 / 0", "x", id="broken"))
    assert "windlass_source_broken_1" not in sys.modules
    with pytest.raises(SyntaxError):
        await modules.load_workflow(source("def", "x"))
    with pytest.raises(ImportError, match="would end the process"):
        await modules.load_workflow(source("raise SystemExit", "x"))


async def test_import_that_takes_too_long_fails_alone_and_is_used_once_it_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_modules, "IMPORT_TIMEOUT_S", 0.01)
    ends = threading.Event()
    monkeypatch.setattr(sys, "import_ends", ends, raising=False)
    slow, modules = (
        source(f"import sys\nsys.import_ends.wait(60)\n{TWO}", "one", id="slow"),
        Modules(),
    )
    with pytest.raises(ImportTimeout, match=r"took longer than 0\.01 seconds"):
        await modules.load_workflow(slow)
    monkeypatch.setattr(_modules, "IMPORT_TIMEOUT_S", 60)
    assert (await modules.load_workflow(source(TWO, "one"))).name == "one"
    ends.set()
    assert (await modules.load_workflow(slow)).name == "one"


async def test_the_loop_is_blocked_beyond_the_limit_an_import_that_has_finished_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ends = threading.Event()
    monkeypatch.setattr(sys, "import_ends", ends, raising=False)
    text = f"import sys\n{TWO}\nsys.import_ends.set()"
    loading = asyncio.create_task(Modules().load_workflow(source(text, "one", id="blocked")))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert ends.wait(60)
    pass_time(monkeypatch)
    assert (await loading).name == "one"


async def test_traceback_shows_lines_of_the_source() -> None:
    workflow = await Modules().load_workflow(source(TWO, "three"))
    try:
        await workflow.func(None)
    except ValueError as error:
        shown = "".join(traceback.format_exception(error))
    assert '<default/three version 1>", line 11, in fails' in shown
    assert 'raise ValueError("here")' in shown


async def test_sources_of_the_reference_release_import_this_sdk() -> None:
    workflow = await Modules().load_workflow(source(OLD, "old"))
    assert workflow.run("x").output == "x"


def test_alias_leaves_the_real_package_unchanged() -> None:
    compat.install()
    finders = list(sys.meta_path)
    compat.install()
    assert sys.meta_path == finders
    for name in ("flux.task", "flux.errors", "flux.domain.events"):
        ours = name.replace("flux", "windlass")
        assert importlib.import_module(name) is importlib.import_module(ours)
        assert importlib.import_module(ours).__name__ == ours
    importlib.import_module("flux.tasks.pause")
    assert importlib.import_module("flux.tasks").pause is windlass.tasks.pause is windlass.pause
    assert isinstance(windlass.task, type(importlib.import_module("windlass.task").task))
    with pytest.raises(ImportError):
        importlib.import_module("flux.nothing_like_this")


def test_installed_original_package_is_preferred_to_the_alias(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "flux"]:
        monkeypatch.delitem(sys.modules, name)
    (tmp_path / "flux").mkdir()
    (tmp_path / "flux" / "__init__.py").write_text("original = True")
    (tmp_path / "flux" / "tasks.py").write_text("original = True")
    monkeypatch.syspath_prepend(tmp_path)
    compat.install()
    assert importlib.import_module("flux").original
    assert importlib.import_module("flux.tasks").original
    for name in ("flux", "flux.tasks"):
        monkeypatch.delitem(sys.modules, name)


def test_context_annotation_is_generic() -> None:
    assert ExecutionContext[int].__origin__ is ExecutionContext  # type: ignore[attr-defined]


FORMS = """
import {package}, {package} as w, {package}.task, {package}.workflow
from {package} import workflow as wf

@{package}.workflow.workflow
async def one(ctx): ...

@{package}.workflow.workflow.with_options(name="two")
async def renamed(ctx): return await add(1)

@w.workflow
async def three(ctx): ...

@wf()
async def four(ctx): ...

class Group:
    class Inner:
        @w.workflow.with_options(namespace="default")
        async def five(ctx): ...

Group.Inner.outer = Group

@{package}.task.task
async def add(n): return n + 1
"""


@pytest.mark.parametrize("package", ["windlass", "flux"])
async def test_every_accepted_form_of_the_decorators_works(package: str) -> None:
    modules = Modules()
    forms = FORMS.format(package=package)
    for name in ("one", "two", "three", "four", "five"):
        found = await modules.load_workflow(source(forms, name, id=package))
        assert found.name == name
    assert (await modules.load_workflow(source(forms, "two", id=package))).run().output == 2
