"""Public names of the package."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import windlass


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


def test_lock_of_workers_contains_their_extras() -> None:
    root = Path(__file__).parents[1]
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    lock = (root / "requirements.txt").read_text()
    locked = set(re.findall(r"^([\w-]+)==", lock, re.MULTILINE))
    asked = [name for extra in ("worker", "otel", "encryption") for name in extras[extra]]
    names = {re.split(r"[<>=;\[ ]", requirement)[0] for requirement in asked}
    assert "cryptography" in names
    assert names - locked == set()
