"""Values and exceptions that no log can hold: what the log shows, and that the worker continues."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import Workers, until
from server_fake import TERMINAL, FakeServer, StoredExecution
from windlass.worker import _modules

SOURCE = """
import threading
from typing import Any
from windlass import ExecutionContext, pause, task, workflow

class Unpicklable(Exception):
    def __init__(self, text):
        super().__init__(text)
        self.lock = threading.Lock()

    def __reduce__(self):
        raise TypeError("has no pickle")

class Silent(Exception):
    def __str__(self):
        raise ValueError("has no text")

class SilentBase(BaseException):
    def __str__(self):
        raise ValueError("has no text")

class Abrupt(BaseException):
    pass

def cycle():
    value = []
    value.append(value)
    return value

def deep(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value

MAKE = {
    "nan": lambda: float("nan"),
    "lock": threading.Lock,
    "generator": lambda: (n for n in range(3)),
    "cycle": cycle,
    "600 levels": lambda: deep(600),
    "100 MB": lambda: "x" * 100_000_000,
}

RAISE = {
    "unpicklable": lambda: Unpicklable("holds a lock"),
    "silent": lambda: Silent("unused"),
    "1 MB": lambda: ValueError("y" * 1_000_000),
    "base": lambda: Abrupt("not an Exception"),
    "exit": lambda: SystemExit("ends here"),
    "silent base": lambda: SilentBase("unused"),
}

@task
async def produce(kind: str) -> Any:
    value = MAKE[kind]()
    return value if kind in {"nan", "100 MB"} else {"rows": [0, value]}

@workflow
async def in_a_task(ctx: ExecutionContext[str]):
    await produce(ctx.input)

@workflow
async def as_output(ctx: ExecutionContext[str]):
    value = MAKE[ctx.input]()
    return value if ctx.input in {"nan", "100 MB"} else {"rows": [0, value]}

@task
async def fail(kind: str) -> None:
    raise RAISE[kind]()

@task.with_options(process=True)
def fail_in_a_process(kind: str) -> None:
    raise RAISE[kind]()

@workflow
async def body_fails(ctx: ExecutionContext[str]):
    raise RAISE[ctx.input]()

@workflow
async def fails(ctx: ExecutionContext[str]):
    await fail(ctx.input)

@workflow
async def fails_in_a_process(ctx: ExecutionContext[str]):
    await fail_in_a_process(ctx.input)

@workflow
async def adds(ctx: ExecutionContext[list[int]]):
    return sum(ctx.input)

@workflow
async def asks(ctx: ExecutionContext):
    return await pause("amount", type=dict[str, int])

@workflow
async def hello(ctx: ExecutionContext[str]):
    return f"Hello, {ctx.input}"
"""

VALUES = {
    "nan": "NaN",
    "lock": "$.rows[1]",
    "generator": "$.rows[1]",
    "cycle": "$.rows[1][0]: the value contains itself",
    "600 levels": "$.rows[1][0][0]",
    "100 MB": "100000",
}
EXCEPTIONS = {
    "unpicklable": ("Unpicklable", "holds a lock"),
    "silent": ("Silent", ""),
    "1 MB": ("ValueError", "yyyy"),
    "base": ("Abrupt", "not an Exception"),
    "exit": ("SystemExit", "ends here"),
    "silent base": ("SilentBase", ""),
}


async def run(server: FakeServer, name: str, input: Any) -> StoredExecution:
    stored = server.start(SOURCE, name, input)
    await until(lambda: stored.state in TERMINAL)
    return stored


async def require_alive(server: FakeServer) -> None:
    assert (await run(server, "hello", "x")).output == "Hello, x"
    assert len(server.connects) == 1
    assert all(not stored.crashes for stored in server.executions.values())


async def test_result_without_a_record_fails_its_task_naming_place_or_size(
    server: FakeServer, workers: Workers
) -> None:
    await workers.start()
    for kind, place in VALUES.items():
        stored = await run(server, "in_a_task", kind)
        assert stored.state == "FAILED", kind
        assert stored.types()[-2:] == ["TASK_FAILED", "WORKFLOW_FAILED"], kind
        assert place in str(stored.events[-2]["value"])
        assert place in stored.output["message"]
        await require_alive(server)


async def test_output_without_a_record_fails_the_execution_naming_place_or_size(
    server: FakeServer, workers: Workers
) -> None:
    await workers.start()
    for kind, place in VALUES.items():
        stored = await run(server, "as_output", kind)
        assert (stored.state, stored.types()[-1]) == ("FAILED", "WORKFLOW_FAILED"), kind
        assert place in stored.output["message"]
        await require_alive(server)


@pytest.mark.parametrize("name", ["body_fails", "fails", "fails_in_a_process"])
async def test_odd_exception_is_recorded_and_the_worker_continues(
    server: FakeServer, workers: Workers, name: str
) -> None:
    await workers.start()
    in_task = [] if name == "body_fails" else ["TASK_FAILED"]
    for kind, (type_name, message) in EXCEPTIONS.items():
        stored = await run(server, name, kind)
        events = [event for event in stored.events if event["type"].endswith("_FAILED")]
        assert [event["type"] for event in events] == [*in_task, "WORKFLOW_FAILED"], kind
        for event in events:
            value = event["value"]
            recorded = value["metadata"]["value"] if event["type"] == "TASK_FAILED" else value
            assert recorded["type"] == type_name
            assert message in recorded["message"]
            assert len(recorded["message"]) <= 16 * 1024
            assert "RAISE[" in recorded["traceback"]
        await require_alive(server)


async def test_source_that_imports_for_too_long_fails_its_execution_alone(
    server: FakeServer, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In a thread of this process, where the limit can be a short one, once the other source has
    # been imported.
    await workers.start(children=0)
    await run(server, "hello", "x")
    monkeypatch.setattr(_modules, "IMPORT_TIMEOUT_S", 0.3)
    slow = server.start(f"import time; time.sleep(3)\n{SOURCE}", "hello", "x")
    other = await run(server, "hello", "x")
    await until(lambda: slow.state in TERMINAL)
    assert (slow.types()[-1], slow.output["type"]) == ("WORKFLOW_FAILED", "ImportTimeout")
    assert other.output == "Hello, x"
    await require_alive(server)


async def test_workflow_that_its_source_lacks_fails_the_execution_naming_it(
    server: FakeServer, workers: Workers
) -> None:
    await workers.start()
    stored = await run(server, "absent", None)
    assert stored.types()[-1] == "WORKFLOW_FAILED"
    assert stored.output["type"] == "WorkflowNotFoundError"
    assert "'default/absent'" in stored.output["message"]
    await require_alive(server)


async def test_input_that_does_not_fit_fails_the_execution_naming_the_path(
    server: FakeServer, workers: Workers
) -> None:
    await workers.start()
    stored = await run(server, "adds", [1, "two"])
    assert stored.types()[-1] == "WORKFLOW_FAILED"
    assert "$[1]" in stored.output["message"]
    assert (await run(server, "adds", [1, 2])).output == 3


async def test_resume_body_that_does_not_fit_is_refused_and_the_execution_stays_paused(
    server: FakeServer, workers: Workers
) -> None:
    await workers.start()
    stored = server.start(SOURCE, "asks")
    await until(lambda: stored.state == "PAUSED")
    server.resume(stored, {"value": "many"})
    await until(lambda: stored.types().count("WORKFLOW_PAUSED") == 2)
    assert stored.state == "PAUSED"
    assert "$" in stored.events[-1]["value"]["refused"]
    server.resume(stored, {"value": 3})
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == {"value": 3}
