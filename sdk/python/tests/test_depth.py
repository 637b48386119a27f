"""Values nested to the limit of the server, and deeper."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conftest import Workers, until
from run_fixture import failure_of, run_from, types
from server_fake import TERMINAL, FakeServer
from windlass import ExecutionContext, pause, task, workflow
from windlass._call_id import call_id
from windlass._json import TOO_DEEP, encode, loads
from windlass.errors import ExecutionError, UnserializableError
from windlass.output_storage import LocalFileStorage

DEEPEST = 512

SOURCE = """
from windlass import ExecutionContext, pause, task, workflow

@task
async def same(value):
    return value

@task
async def deep(levels):
    value = []
    for _ in range(levels - 1):
        value = [value]
    return value

@workflow
async def echo(ctx: ExecutionContext):
    return await same(ctx.input)

@workflow
async def asks(ctx: ExecutionContext):
    kept = await same(ctx.input)
    body = await pause("p", output=kept)
    return await same(body)

@workflow
async def digs(ctx: ExecutionContext[int]):
    return await deep(ctx.input)
"""


@dataclass
class Link:
    next: Link | None


def lists(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


def objects(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels - 1):
        value = {"a": value, "b": [1]}
    return value


def links(levels: int) -> Any:
    value: Link | None = None
    for _ in range(levels):
        value = Link(value)
    return value


@task
async def same(value: Any) -> Any:
    return value


@task.with_options(retry_max_attempts=1, retry_delay=0)
async def second_time(value: Any, seen: list[int]) -> Any:
    seen.append(1)
    if len(seen) < 2:
        raise ValueError("not yet")
    return value


@workflow
async def echo(ctx: ExecutionContext[Any]) -> Any:
    return await same(ctx.input)


@workflow
async def asks(ctx: ExecutionContext[Any]) -> Any:
    await second_time(ctx.input, [])
    return await same(await pause("p", output=ctx.input))


@pytest.mark.parametrize("nested", [lists, objects])
def test_value_of_512_levels_passes_through_every_event(nested: Any) -> None:
    value = nested(DEEPEST)
    context = echo.run(value)
    assert context.has_succeeded, context.output
    assert context.output == value
    context = asks.run(value)
    assert context.is_paused, context.output
    resumed = asks.resume(context.execution_id, value)
    assert resumed.has_succeeded, resumed.output
    assert resumed.output == value
    assert resumed.to_json()


def test_objects_of_512_levels_are_encoded() -> None:
    assert loads(encode(links(DEEPEST))) == loads('{"next":' * DEEPEST + "null" + "}" * DEEPEST)
    assert loads(encode({1: objects(DEEPEST - 1), (1, 2): 0}))["1"] == objects(DEEPEST - 1)


@pytest.mark.parametrize("nested", [lists, objects, links])
@pytest.mark.parametrize("levels", [550, 900, 1100, 20_000])
async def test_deeper_result_fails_its_task_with_a_reason(nested: Any, levels: int) -> None:
    @task
    async def dig() -> Any:
        return nested(levels)

    @workflow
    async def digs(ctx: ExecutionContext[Any]) -> str:
        with pytest.raises(ExecutionError) as caught:
            await dig()
        return f"{type(caught.value).__name__}: {caught.value.message}"

    events = (await run_from(digs)).events
    assert types(events)[-2:] == ["TASK_FAILED", "WORKFLOW_COMPLETED"]
    kind, place, reason = events[-1].value.split(": ")
    assert (kind, reason) == ("UnserializableError", TOO_DEEP)
    assert place.startswith("$")
    assert len(place) <= 201


@pytest.mark.parametrize("levels", [550, 20_000])
async def test_deeper_argument_or_output_fails_the_workflow_with_a_reason(levels: int) -> None:
    @workflow
    async def gives(ctx: ExecutionContext[Any]) -> None:
        await same(lists(levels))

    @workflow
    async def ends(ctx: ExecutionContext[Any]) -> Any:
        return lists(levels)

    for broken in (gives, ends):
        failed = (await run_from(broken)).events[-1]
        assert failed.type == "WORKFLOW_FAILED"
        failure = failure_of(failed.value)
        assert failure["type"] == "UnserializableError"
        assert failure["message"].endswith(TOO_DEEP)


async def test_argument_that_contains_itself_is_rejected() -> None:
    endless: list[Any] = [1]
    endless += [endless, endless]
    with pytest.raises(UnserializableError):
        call_id("f", {"x": endless}, [endless], {})


def test_brackets_inside_strings_do_not_count_as_levels() -> None:
    for text in ("[" * 2000, '"["' * 600, ']"\\[' * 2000, "\\" * 999 + '"{'):
        assert loads(encode([text, {text: 1}])) == [text, {text: 1}]
    with pytest.raises(UnserializableError, match="too deeply"):
        encode(["]" * 2000, lists(600)])
    wide = [{"a": [n]} for n in range(2000)]
    assert loads(encode(wide)) == wide


def test_call_id_does_not_depend_on_the_depth_of_the_stack() -> None:
    def below(frames: int, value: Any) -> str:
        if frames:
            return below(frames - 1, value)
        return call_id("f", {"x": value}, [value], {})

    for value in (objects(60), objects(DEEPEST), links(DEEPEST)):
        assert below(0, value) == below(800, value)
    assert call_id("f", {"x": objects(511)}, [], {}) != call_id("f", {"x": objects(512)}, [], {})


def test_local_files_store_512_levels_and_reject_deeper_pickles(tmp_path: Path) -> None:
    storage = LocalFileStorage(tmp_path, "json")
    assert storage.retrieve(storage.store("r", objects(DEEPEST))) == objects(DEEPEST)
    # Up to Python 3.13, pickle refuses 5,000 levels; since 3.14, what exceeds the stack of 8 MiB.
    with pytest.raises(UnserializableError, match="too deeply for pickle"):
        LocalFileStorage(tmp_path).store("r", objects(100_000))


async def test_values_of_512_levels_pass_through_a_worker(
    server: FakeServer, workers: Workers
) -> None:
    await workers.start()
    stored = server.start(SOURCE, "echo", lists(DEEPEST))
    await until(lambda: stored.state in TERMINAL)
    assert (stored.state, stored.output) == ("COMPLETED", lists(DEEPEST))
    stored = server.start(SOURCE, "asks", objects(DEEPEST))
    await until(lambda: stored.state in {"PAUSED", *TERMINAL})
    assert stored.state == "PAUSED", stored.output
    server.resume(stored, lists(DEEPEST))
    await until(lambda: stored.state in TERMINAL)
    assert (stored.state, stored.output) == ("COMPLETED", lists(DEEPEST))


@pytest.mark.parametrize("levels", [600, 5000, 100_000])
async def test_worker_survives_values_that_are_too_deep(
    server: FakeServer, workers: Workers, levels: int
) -> None:
    await workers.start()
    stored = server.start(SOURCE, "digs", levels)
    await until(lambda: stored.state in TERMINAL)
    assert stored.output["type"] == "UnserializableError"
    after = server.start(SOURCE, "echo", 1)
    await until(lambda: after.state in TERMINAL)
    assert after.output == 1
