"""Captured lines: from `print` and `logging` in workflows to the server."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Callable
from typing import Any, cast

import pytest
from aiohttp import web

from conftest import Workers, until
from run_fixture import FakeServices, RecordingJournal
from server_fake import TERMINAL, FakeServer, StoredExecution
from windlass import _capture
from windlass._capture import MAX_CHARS, MAX_LINES, Capture
from windlass._run import Run, Scope
from windlass.domain.execution_context import ExecutionContext
from windlass.worker import _line_buffer
from windlass.worker._api import Api
from windlass.worker._line_buffer import LineBuffer

SOURCE = """
import logging, sys, threading
from windlass import ExecutionContext, pause, task, workflow
from windlass.secrets import previous_secret

log = logging.getLogger("shop.orders")

@task
async def prints(text: str) -> None:
    print("one", "two")
    print("no end", end="")
    print(f"problem with {text}", file=sys.stderr)

@task
def prints_in_a_thread() -> None:
    print("from a thread")

@task
async def fails() -> None:
    try:
        raise ValueError("out of stock")
    except ValueError:
        log.exception("order %d failed", 7)

@workflow
async def writes(ctx: ExecutionContext[str]):
    print("in the body")
    await prints(ctx.input)
    await prints_in_a_thread()
    await fails()

@workflow
async def writes_around_a_pause(ctx: ExecutionContext[None]):
    print("before")
    await prints("x")
    await pause("review")
    print("after")

@task.with_options(secret_requests=["KEY", "FILE"])
async def reveals(secrets: dict) -> None:
    print("the key is", secrets["KEY"]["password"], "of", secrets["KEY"]["user"])
    print(repr(secrets))
    print(secrets["FILE"])
    print("earlier:", await previous_secret("KEY"))

@task.with_options(sensitive=True)
async def hides() -> None:
    print("confidential")
    log.warning("confidential")

@workflow
async def uses_secrets(ctx: ExecutionContext[None]):
    await reveals()
    await hides()

@task
async def writes_much(count: int) -> None:
    for number in range(count):
        print(number)

@task
async def writes_little() -> None:
    print("still captured")

@workflow
async def writes_too_much(ctx: ExecutionContext[int]):
    await writes_much(ctx.input)
    await writes_little()

@workflow
async def crashes(ctx: ExecutionContext[None]):
    import os
    print("last words")
    os._exit(3)
"""


@pytest.fixture
def features(server: FakeServer) -> None:
    server.features = ["captured_lines", "lines_in_checkpoints", "parking"]


def lines_of(stored: StoredExecution) -> list[str]:
    """Returns the messages in the order of the server."""
    return [line["message"] for _, line in sorted(stored.lines.items())]


def is_terminal(stored: StoredExecution) -> Callable[[], bool]:
    return lambda: stored.state in TERMINAL


@pytest.mark.usefixtures("features")
async def test_prints_and_records_each_line_is_stored_with_its_task_level_and_logger(
    server: FakeServer, workers: Workers
) -> None:
    await workers.start()
    stored = server.start(SOURCE, "writes", "order 7")
    await until(is_terminal(stored))
    lines = [
        (line["task_name"], line["logger"], line["level"], line["message"].splitlines()[0])
        for _, line in sorted(stored.lines.items())
    ]
    assert lines == [
        ("", "stdout", 20, "in the body"),
        ("prints", "stdout", 20, "one two"),
        ("prints", "stderr", 30, "problem with order 7"),
        ("prints_in_a_thread", "stdout", 20, "from a thread"),
        ("fails", "shop.orders", 40, "order 7 failed"),
        ("prints", "stdout", 20, "no end"),
    ]
    [failure] = [text for text in lines_of(stored) if text.startswith("order 7 failed")]
    assert failure.splitlines()[-1] == "ValueError: out of stock"
    started = {event["source_id"] for event in stored.events if event["type"] == "TASK_STARTED"}
    assert {line["task_id"] for line in stored.lines.values()} == {"", *started}


def line_requests(server: FakeServer) -> list[str]:
    return [path for _, path in server.requests if "/logs/" in path]


@pytest.mark.usefixtures("features")
async def test_a_short_execution_its_last_checkpoint_carries_its_lines(
    server: FakeServer, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_line_buffer, "DELAY_S", 3600.0)
    await workers.start()
    stored = server.start(SOURCE, "writes_too_much", 3)
    await until(is_terminal(stored))
    assert lines_of(stored) == ["0", "1", "2", "still captured"]
    assert line_requests(server) == []


@pytest.mark.usefixtures("features")
async def test_a_last_checkpoint_whose_answer_is_lost_no_line_is_stored_twice(
    server: FakeServer, workers: Workers
) -> None:
    async def lose(request: web.Request) -> web.StreamResponse | None:
        if "/checkpoint/" not in request.path or "captured_lines" not in await request.text():
            return None
        server.faults.remove(lose)
        server._store_lines(stored, (await request.json())["captured_lines"])
        return web.json_response({"detail": "try again"}, status=503)

    server.faults.append(lose)
    await workers.start()
    stored = server.start(SOURCE, "writes_too_much", 3)
    await until(is_terminal(stored))
    assert lines_of(stored) == ["0", "1", "2", "still captured"]


@pytest.mark.usefixtures("features")
async def test_a_server_whose_checkpoints_carry_no_lines_they_are_stored_before_the_end(
    server: FakeServer, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_line_buffer, "DELAY_S", 3600.0)
    server.features.remove("lines_in_checkpoints")
    await workers.start()
    stored = server.start(SOURCE, "writes_too_much", 3)
    await until(is_terminal(stored))
    assert lines_of(stored) == ["0", "1", "2", "still captured"]
    assert len(line_requests(server)) == 1


@pytest.mark.usefixtures("features")
async def test_a_body_that_runs_again_its_earlier_lines_are_not_captured_again(
    server: FakeServer, workers: Workers
) -> None:
    await workers.start()
    stored = server.start(SOURCE, "writes_around_a_pause")
    await until(lambda: stored.state == "PAUSED")
    assert lines_of(stored) == ["before", "one two", "problem with x", "no end"]
    server.resume(stored, None)
    await until(is_terminal(stored))
    assert lines_of(stored)[4:] == ["after"]


@pytest.mark.usefixtures("features")
async def test_secrets_that_a_task_has_read_are_masked_and_sensitive_tasks_left_out(
    server: FakeServer, workers: Workers
) -> None:
    server.secrets = {"KEY": {"password": 'quo"te', "user": "root-user"}, "FILE": "first\nsecond"}
    server.previous_secrets = {"KEY": "older-value"}
    await workers.start()
    stored = server.start(SOURCE, "uses_secrets")
    await until(is_terminal(stored))
    assert stored.state == "COMPLETED", stored.output
    text = "\n".join(lines_of(stored))
    assert lines_of(stored)[0] == "the key is *** of ***"
    assert lines_of(stored)[-1] == "earlier: ***"
    for hidden in ("quo", "root-user", "first", "second", "older-value", "confidential"):
        assert hidden not in text


@pytest.mark.usefixtures("features")
async def test_a_task_that_writes_more_than_its_limit_a_marker_follows_and_others_are_captured(
    server: FakeServer, workers: Workers
) -> None:
    await workers.start()
    stored = server.start(SOURCE, "writes_too_much", MAX_LINES + 5)
    await until(is_terminal(stored))
    messages = lines_of(stored)
    assert messages[:MAX_LINES] == [str(number) for number in range(MAX_LINES)]
    assert "no more lines of this task" in messages[MAX_LINES]
    assert messages[MAX_LINES + 1 :] == ["still captured"]


@pytest.mark.usefixtures("features")
async def test_an_answer_that_is_lost_the_request_is_repeated_and_no_line_is_stored_twice(
    server: FakeServer, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_line_buffer, "FIRST_RETRY_S", 0.01)
    requests = []

    async def lose(request: web.Request) -> web.StreamResponse | None:
        if "/logs/" not in request.path:
            return None
        requests.append(await request.text())
        if len(requests) > 1:
            return None
        await server._lines(request)
        return web.json_response({"detail": "try again"}, status=503)

    server.features.remove("lines_in_checkpoints")
    server.faults.append(lose)
    await workers.start()
    stored = server.start(SOURCE, "writes_too_much", 3)
    await until(is_terminal(stored))
    assert requests[0] == requests[1]
    assert lines_of(stored) == ["0", "1", "2", "still captured"]


@pytest.mark.usefixtures("features")
@pytest.mark.parametrize("children", [1], indirect=True)
async def test_a_process_that_ends_what_it_wrote_before_is_stored(
    server: FakeServer, workers: Workers
) -> None:
    await workers.start()
    stored = server.start(SOURCE, "crashes")
    await until(lambda: stored.crashes == 1)
    assert lines_of(stored) == ["last words"]


async def test_a_server_or_an_operator_without_captured_lines_nothing_is_sent(
    server: FakeServer, workers: Workers
) -> None:
    await workers.start("w1")
    first = server.start(SOURCE, "writes", "x")
    await until(is_terminal(first))
    await workers.stop("w1")
    server.features = ["captured_lines"]
    await workers.start("w2", capture_logs=False)
    second = server.start(SOURCE, "writes", "x")
    await until(is_terminal(second))
    assert [path for _, path in server.requests if "/logs/" in path] == []


def captured() -> tuple[Capture, Scope, list[str]]:
    """Returns a capture, the scope of a task, and the messages."""
    lines: list[str] = []
    context = ExecutionContext[Any]("0" * 32, "default", "w", None, "0" * 32)
    run = Run(context, RecordingJournal(), FakeServices())
    scope = Scope(run, call_id="t_1", task_name="t")
    return Capture(lambda line: lines.append(json.loads(line)["message"])), scope, lines


def test_printed_text_line_ends_make_the_lines_and_a_long_one_is_cut() -> None:
    capture, scope, lines = captured()
    for text in ("a", "b\nc", "\n\n"):
        capture.write(scope, "stdout", 20, text)
    capture.write(scope, "stdout", 20, "x" * (MAX_CHARS + 1))
    capture.write(scope, "stdout", 20, "y")
    capture.end()
    assert lines == ["ab", "c", "", "x" * MAX_CHARS + "…", "y"]


def test_characters_that_the_server_cannot_store_are_replaced() -> None:
    capture, scope, lines = captured()
    capture.add(scope, "log", 20, "NUL \0 and half \ud800", 0.0)
    assert lines == ["NUL \ufffd and half ?"]


def test_numbers_and_nested_values_of_secrets_are_masked_the_longest_first() -> None:
    capture, scope, lines = captured()
    capture.hide([{"pin": 4711, "on": True, "list": ["secret", "secret-longer"]}])
    capture.add(scope, "log", 20, "4711 True secret-longer secret", 0.0)
    assert lines == ["*** True *** ***"]


def test_an_installed_capture_streams_stay_usable_and_are_restored(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = sys.stdout, list(logging.getLogger().handlers)
    end = _capture.install()
    _capture.install()()
    try:
        sys.stdout.writelines(["a", "b"])
        sys.stdout.write("outside of a run\n")
        assert sys.stdout.encoding == before[0].encoding
    finally:
        end()
    assert (sys.stdout, logging.getLogger().handlers) == before
    assert capsys.readouterr().out == "aboutside of a run\n"


async def test_lines_that_the_server_does_not_take_in_time_a_line_says_how_many_are_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_line_buffer, "MAX_PENDING_BYTES", 20)
    bodies: list[dict[str, Any]] = []

    class Taking:
        async def store_lines(self, execution_id: str, body: bytes, generation: str) -> None:
            bodies.append(json.loads(body))

    loop = asyncio.get_running_loop()
    buffer = LineBuffer(loop, cast("Api", Taking()), "0" * 32, "1")
    for number in range(9):
        buffer.add(json.dumps({"message": f"line {number}"}))
    await buffer.flush()
    buffer.add(json.dumps({"message": "later"}))
    await buffer.flush()
    buffer.close()
    messages = [line["message"] for body in bodies for line in body["lines"]]
    assert messages == [
        "line 0",
        "8 lines are missing: they could not be encoded or sent in time",
        "later",
    ]
    assert [body["first"] for body in bodies] == [0, 2]
