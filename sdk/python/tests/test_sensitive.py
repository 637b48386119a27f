"""Sensitive tasks: none of their values leaves the process, and crashes change nothing."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from windlass import (
    ExecutionContext,
    Graph,
    LocalFileStorage,
    OutputStorage,
    OutputStorageReference,
    Retry,
    as_completed,
    current,
    first,
    heartbeat,
    parallel,
    pipeline,
    progress,
    task,
    workflow,
)
from windlass.testing import Engine, assert_survives_crashes

SECRET = "canary-5417"


class LeakyError(Exception):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


async def fail(secret: str) -> None:
    raise LeakyError(secret)


def flow(directory: Path) -> Any:
    storage = LocalFileStorage(directory)

    @task.with_options(sensitive=True, output_storage=storage, retry=Retry(attempts=2, delay=1))
    async def issue(secret: str) -> str:
        progress(secret)
        heartbeat(secret)
        if current().attempt == 1:
            raise LeakyError(secret) from KeyError(secret)
        return secret

    @task.with_options(sensitive=True)
    async def burn(secret: str) -> None:
        raise LeakyError(secret)

    @task.with_options(sensitive=True)
    async def burns_several(secret: str) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(2):
                group.create_task(fail(secret))

    @task.with_options(sensitive=True, output_storage=storage, fallback=lambda secret: secret)
    async def falls_back(secret: str) -> str:
        raise LeakyError(secret)

    @workflow
    async def handles(ctx: ExecutionContext[None]) -> list[Any]:
        secret = "-".join(["canary", "5417"])
        lengths = [len(await issue(secret)), len(await falls_back(secret))]
        lengths += [len(item) for item in await issue.map([secret, secret])]
        async for done in as_completed([issue(secret)]):
            lengths.append(len(await done))
        try:
            await burns_several(secret)
        except* LeakyError as errors:
            lengths.append(len(errors.exceptions))
        try:
            await burn(secret)
        except LeakyError as error:
            return [lengths, str(error), error.args == (str(error),)]
        return []

    return handles


async def test_values_of_sensitive_tasks_are_nowhere(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    run = await engine.start(flow(tmp_path))
    await engine.advance_until_settled(run, timedelta(hours=1))
    lengths, message, _ = run.result()
    assert lengths == [*[len(SECRET)] * 5, 2]
    assert message == "the message is not recorded, because the task is sensitive"
    assert run.progress == []
    assert SECRET not in json.dumps([asdict(event) for event in run.events])
    assert SECRET not in caplog.text


class Memory(OutputStorage):
    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def store(self, reference_id: str, value: Any) -> OutputStorageReference:
        self.values[reference_id] = value
        return OutputStorageReference("memory", reference_id)

    def retrieve(self, reference: OutputStorageReference) -> Any:
        return self.values[reference.reference_id]


async def test_crash_of_a_sensitive_task_changes_nothing() -> None:
    @task.with_options(sensitive=True, output_storage=Memory(), retry=Retry(delay=1))
    async def issue(secret: str) -> str:
        if current().attempt < 3:
            raise LeakyError(secret)
        return secret

    @workflow
    async def handles(ctx: ExecutionContext[None]) -> int:
        return len(await issue(SECRET)) + len(await issue("b"))

    await assert_survives_crashes(handles)


async def test_task_that_would_be_recorded_by_another_is_refused(
    engine: Engine, tmp_path: Path
) -> None:
    @task.with_options(sensitive=True, output_storage=LocalFileStorage(tmp_path))
    async def issue(secret: str) -> str:
        return secret

    with pytest.raises(ValueError, match="Graph records the results"):
        Graph("g").add_node("issue", issue)

    @workflow
    async def runs(ctx: ExecutionContext[str]) -> Any:
        match ctx.input:
            case "parallel":
                return await parallel(issue(SECRET))
            case "first":
                return await first(issue(SECRET))
        return await pipeline(issue, input=SECRET)

    for kind in ("parallel", "first", "pipeline"):
        run = await engine.start(runs, kind)
        with pytest.raises(ValueError, match=f"{kind} records the results"):
            run.result()


def test_result_without_storage_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="needs output_storage"):

        @task.with_options(sensitive=True)
        async def issue() -> str:
            return SECRET
