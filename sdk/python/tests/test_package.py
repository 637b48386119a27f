"""Public names of the package, and the examples."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import windlass
from windlass.testing import assert_survives_crashes
from windlass.workflow import Workflow

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize(
    ("module", "names"),
    [
        (
            "windlass",
            "ExecutionContext ExecutionEvent ExecutionEventType ExecutionState ResourceRequest "
            "Schedule ScheduleStatus ScheduleType TaskMetadata call choice cron interval logger "
            "now once parallel pause pipeline progress randint randrange sleep task uuid4 workflow",
        ),
        (
            "windlass.tasks",
            "Graph call choice now parallel pause pipeline progress randint randrange sleep uuid4",
        ),
        ("windlass.tasks.config_task", "get_config"),
        ("windlass.routing", "input label least load metric most prefer resource score sticky"),
        ("windlass.domain.resource_request", "ResourceRequest"),
        ("windlass.domain.schedule", "cron interval once"),
        (
            "windlass.errors",
            "ApprovalRejected ExecutionContextNotFoundError ExecutionError ExecutionTimeoutError "
            "PauseRequested RetryError RunnerNotAvailableError StaleClaimError TaskNotFoundError "
            "TaskAuthorizationError TransientDurabilityError WorkerNotFoundError "
            "WorkerProcessCrashed WorkflowCatalogError WorkflowNotFoundError",
        ),
        ("windlass.approvals", "ApprovalRejected"),
        (
            "windlass.output_storage",
            "InlineOutputStorage LocalFileStorage OutputStorage OutputStorageReference",
        ),
        ("windlass.worker", "Settings Worker"),
    ],
)
def test_documented_names_exist(module: str, names: str) -> None:
    imported = importlib.import_module(module)
    assert [name for name in names.split() if not hasattr(imported, name)] == []


def test_all_is_sorted_and_complete() -> None:
    assert windlass.__all__ == sorted(windlass.__all__)
    assert all(hasattr(windlass, name) for name in windlass.__all__)


def test_importing_the_sdk_does_not_import_aiohttp() -> None:
    """Workflow sources are also imported where no worker runs."""
    code = "import sys, windlass; sys.exit('aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_hello_world() -> None:
    context = example("hello_world").hello_world.run("World")
    assert context.output == "Hello, World"


def test_three_workflows() -> None:
    module = example("three_workflows")
    found = [value for value in vars(module).values() if isinstance(value, Workflow)]
    assert [workflow.qualified_name for workflow in found] == [
        "default/double",
        "default/square",
        "arithmetic/summary",
    ]
    assert [workflow.run(3).output for workflow in found] == [6, 9, {"double": 6, "square": 9}]


def test_approval_pause() -> None:
    payment = example("approval_pause").approval_pause
    context = payment.run({"amount": 40})
    assert context.is_paused
    assert context.events[-1].value["output"] == {"amount": 40}
    answer = {"approved": True, "by": "me"}
    paid = payment.resume(context.execution_id, answer)
    assert paid.output == {"result": "paid 40.0", "answer": answer}
    refused = payment.run({"amount": 40})
    assert payment.resume(refused.execution_id, None).output["result"] == "refused"


def test_ten_tasks() -> None:
    context = example("ten_tasks").ten_tasks.run(0)
    assert context.output == list(range(1, 11))
    assert [event.name for event in context.events if event.type == "TASK_STARTED"] == [
        f"step_{number}" for number in range(1, 11)
    ]


def test_progress() -> None:
    assert example("progress").count_words.run(["a b", "c"]).output == 3


@pytest.mark.parametrize(
    ("name", "input", "resumes"),
    [
        ("hello_world", "World", []),
        ("ten_tasks", 0, []),
        ("progress", ["a b", "c"], []),
        ("approval_pause", {"amount": 40}, [{"approved": True}]),
    ],
)
async def test_example_survives_crashes(name: str, input: Any, resumes: list[Any]) -> None:
    workflow = getattr(example(name), "count_words" if name == "progress" else name)
    report = await assert_survives_crashes(workflow, input, resumes=resumes)
    assert report.cuts > 4
