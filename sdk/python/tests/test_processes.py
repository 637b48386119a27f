"""Tasks with `process=True`: their function runs in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import process_tasks
from conftest import HANG_S, Workers, until
from process_tasks import Order
from run_fixture import run_from
from server_fake import TERMINAL, FakeServer
from windlass import task
from windlass._process_pool import default_pool
from windlass.errors import (
    ExecutionError,
    TaskProcessCrashed,
    UnserializableError,
)
from windlass.testing import Engine, assert_survives_crashes


def is_running(pid: int) -> bool:
    """True unless the process has ended, whether or not its parent has read that."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_function_runs_in_another_process_that_later_calls_reuse() -> None:
    output = process_tasks.squares.run(3).result()
    assert [n for n, _ in output] == [0, 1, 4]
    assert os.getpid() not in {pid for _, pid in output}
    assert {pid for _, pid in output} <= set(default_pool().processes)


def test_arguments_and_results_are_those_of_a_thread() -> None:
    assert process_tasks.orders.run(Order(7)).result() == [21, 3]


def test_exception_of_the_function_is_raised_with_its_class_and_place() -> None:
    run = process_tasks.catches.run("no")
    assert run.result() == [False, "no"]
    failed = next(event for event in run.events if event.type == "TASK_FAILED")
    assert "process_tasks.py" in failed.value["metadata"]["value"]["traceback"]


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        ("exits", "ended with the exit code 3"),
        ("is killed", "was ended by SIGKILL"),
        ("crashes", "was ended by SIGSEGV"),
    ],
)
def test_end_of_the_process_fails_the_attempt(kind: str, how: str) -> None:
    with pytest.raises(TaskProcessCrashed, match=how):
        process_tasks.does.run(kind).result()


def test_end_of_the_process_is_noticed_although_a_copy_of_it_still_runs(tmp_path: Path) -> None:
    file = tmp_path / "copy"
    try:
        with pytest.raises(TaskProcessCrashed, match="ended with the exit code 3"):
            process_tasks.forks.run(str(file)).result()
        assert is_running(int(file.read_text()))
    finally:
        os.kill(int(file.read_text()), signal.SIGKILL)


def test_crash_of_the_process_is_caught_and_retried(tmp_path: Path) -> None:
    output = process_tasks.survives.run(str(tmp_path / "mark")).result()
    assert output == ["the process of the task ended with the exit code 3", 2, 9]


def test_exit_of_the_function_is_a_failure_not_the_end_of_the_process() -> None:
    process_tasks.does.run("x").result()
    pids = default_pool().processes
    with pytest.raises(ExecutionError, match="4"):
        process_tasks.does.run("calls sys.exit").result()
    assert set(pids) <= set(default_pool().processes)


def test_call_of_another_task_is_refused() -> None:
    with pytest.raises(ExecutionError, match="cannot call other tasks"):
        process_tasks.does.run("calls a task").result()


def test_result_without_a_pickle_names_the_place() -> None:
    with pytest.raises(UnserializableError, match=r"result of anything .*: \$\.rows\[1\]\.lock: "):
        process_tasks.does.run("returns a lock").result()


def test_argument_without_a_pickle_names_the_place() -> None:
    place = r"the argument order of total .*: \$\.blob\[1\]\.handler: Can.t (pickle|get)"
    with pytest.raises(UnserializableError, match=place):
        process_tasks.sends_a_function.run().result()


async def test_timeout_ends_the_process(tmp_path: Path) -> None:
    # On the clock of the machine: a virtual one stands still while a function runs.
    journal = await run_from(process_tasks.times_out, input=str(tmp_path / "pid"))
    assert journal.events[-1].value["type"] == "ExecutionTimeoutError"
    if (tmp_path / "pid").exists():  # else it was ended before it had started
        await until(lambda: not is_running(int((tmp_path / "pid").read_text())))


def test_function_knows_its_call_and_reports_progress() -> None:
    run = process_tasks.says.run(5)
    execution_id, call_id, attempt, key, workflow = run.result()
    assert (execution_id, attempt, workflow) == (run.execution_id, 1, "default/says")
    assert key == f"{execution_id}:{call_id}"


async def test_progress_reaches_the_engine(engine: Engine) -> None:
    run = await engine.start(process_tasks.says, 5)
    assert run.progress == [{"done": 5}, 5]


async def test_mock_replaces_the_function(engine: Engine) -> None:
    engine.mock(process_tasks.square, returns=[1, 2])
    assert (await engine.start(process_tasks.squares, 1)).result() == [[1, 2]]


async def test_workflow_survives_crashes() -> None:
    await assert_survives_crashes(process_tasks.orders, Order(1))


async def coroutine() -> None: ...


def test_function_that_no_process_can_find_is_refused() -> None:
    def inner() -> None: ...

    for func, reason in (
        (coroutine, "is an async function"),
        (inner, "top level"),
        (lambda: None, "top level"),
        (len, "top level"),
    ):
        with pytest.raises(TypeError, match=reason):
            task.with_options(process=True)(func)
    with pytest.raises(TypeError, match="process must be True or False"):
        task.with_options(process=1)  # type: ignore[arg-type]


def test_script_that_defines_the_task_itself(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os\nfrom windlass import task, workflow\n"
        "class Point:\n    def __init__(self, x): self.x = x\n"
        "@task.with_options(process=True)\n"
        "def move(p): return Point(p.x + 1).x, os.getpid()\n"
        "@workflow\nasync def main(ctx): return await move(Point(ctx.input))\n"
        "if __name__ == '__main__':\n"
        "    x, pid = main.run(5).result()\n    print(x, pid != os.getpid())\n"
    )
    run = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=60
    )
    assert run.stdout == "6 True\n", run.stderr


SOURCE = (Path(__file__).parent / "process_tasks.py").read_text()


async def test_worker_runs_the_function_in_a_process_without_credentials(
    server: FakeServer, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_WORKERS__BOOTSTRAP_TOKEN", "s3cret")
    monkeypatch.setenv("MY_SECRET", "s3cret")
    await workers.start(task_processes=1)
    execution = server.start(SOURCE, "does", "is secretive")
    await until(lambda: execution.state in TERMINAL, 3 * HANG_S)
    assert execution.output[0] == []
    assert "s3cret" not in str(execution.output)


async def test_lines_of_the_function_are_captured(server: FakeServer, workers: Workers) -> None:
    server.features = ["captured_lines"]
    await workers.start(task_processes=1)
    execution = server.start(SOURCE, "says", 5)
    await until(lambda: execution.state in TERMINAL, 3 * HANG_S)
    lines = [(line["task_name"], line["message"]) for line in execution.lines.values()]
    assert sorted(lines) == [("reports", "logged 5"), ("reports", "printed 5")]


async def test_crash_in_a_worker_fails_the_attempt_and_nothing_else(
    server: FakeServer, workers: Workers, tmp_path: Path
) -> None:
    await workers.start(task_processes=1)
    execution = server.start(SOURCE, "survives", str(tmp_path / "mark"))
    await until(lambda: execution.state in TERMINAL, 3 * HANG_S)
    assert execution.output == ["the process of the task ended with the exit code 3", 2, 9]


async def test_cancel_ends_the_process(
    server: FakeServer, workers: Workers, tmp_path: Path
) -> None:
    source = SOURCE.replace("process=True, timeout=5", "process=True")
    await workers.start(task_processes=1)
    file = tmp_path / "pid"
    execution = server.start(source, "times_out", str(file))
    pid: Any = await until(lambda: file.exists() and file.read_text(), 3 * HANG_S)
    server.cancel(execution)
    await until(lambda: execution.state == "CANCELLED")
    await until(lambda: not is_running(int(pid)))


async def test_end_of_the_worker_ends_the_processes(
    server: FakeServer, workers: Workers, tmp_path: Path
) -> None:
    source = SOURCE.replace("process=True, timeout=5", "process=True")
    await workers.start(task_processes=1)
    file = tmp_path / "pid"
    server.start(source, "times_out", str(file))
    pid: Any = await until(lambda: file.exists() and file.read_text(), 3 * HANG_S)
    await workers.kill("w1")
    await until(lambda: not is_running(int(pid)))
