"""Worker and server: executions from the frame to the last checkpoint."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Workers, until
from run_fixture import failure_of
from server_fake import TERMINAL, FakeServer
from sources import SOURCE


@pytest.fixture
def source(tmp_path: Path) -> str:
    """Returns the sources with the test's own directory for gates."""
    return SOURCE.format(gate=str(tmp_path))


async def test_hello_world_records_the_documented_log(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start(labels={"zone": "a"})
    stored = server.start(source, "hello", "World")
    await until(lambda: stored.state in TERMINAL)
    assert (stored.state, stored.output) == ("COMPLETED", "Hello, World")
    assert stored.types() == [
        "WORKFLOW_SCHEDULED",
        "WORKFLOW_CLAIMED",
        "WORKFLOW_STARTED",
        "TASK_STARTED",
        "TASK_COMPLETED",
        "WORKFLOW_COMPLETED",
    ]
    started, task, completed = stored.events[2:5]
    assert started["source_id"] == f"hello_{stored.execution_id}"
    assert started["value"] == "World"
    assert (task["name"], task["value"]) == ("say_hello", {"name": "World"})
    assert completed["value"] == {
        "storage_type": "inline",
        "reference_id": task["source_id"],
        "metadata": {"value": "Hello, World"},
    }


async def test_registration_contains_all_facts_for_matching(
    server: FakeServer, workers: Workers, source: str, children: int
) -> None:
    await workers.start(labels={"zone": "a"}, max_concurrent_executions=3)
    record = server.registrations[0]
    assert record["labels"] == {"zone": "a"}
    assert record["max_concurrent_executions"] == 3
    assert record["runners"] == (["inprocess", "subprocess"] if children else ["inprocess"])
    assert len(record["instance"]) == 32
    assert record["runtime"].keys() == {"os_name", "os_version", "python_version"}
    assert {"name", "version"} == record["packages"][0].keys()
    assert "aiohttp" in {package["name"] for package in record["packages"]}
    for member in ("cpu_total", "memory_total", "memory_available", "disk_total", "disk_free"):
        assert record["resources"][member] > 0


async def test_running_task_is_visible_in_the_log(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start()
    stored = server.start(source, "gates", ["a", "b"])
    await until(lambda: stored.types()[-1] == "TASK_STARTED")
    assert stored.state == "RUNNING"
    (tmp_path / "a").touch()
    await until(lambda: stored.types().count("TASK_STARTED") == 2)
    assert stored.types()[-2:] == ["TASK_COMPLETED", "TASK_STARTED"]
    (tmp_path / "b").touch()
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == ["a", "b"]


async def test_checkpoints_contain_only_new_entries_and_never_overlap(
    server: FakeServer, workers: Workers, source: str
) -> None:
    under_way, most = 0, 0

    async def slow(request: Any) -> None:
        nonlocal under_way, most
        if "/checkpoint/" in request.path:
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0.01)
            under_way -= 1

    server.faults.append(slow)
    await workers.start()
    stored = server.start(source, "many", 40)
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == sum(range(40))
    sent = [event["id"] for body in stored.checkpoints for event in body["events"]]
    assert len(sent) == len(set(sent)) == 1 + 2 * 41 + 1
    assert len(stored.checkpoints) < 20
    assert most == 1
    assert {body["state"] for body in stored.checkpoints[:-1]} <= {"RUNNING"}
    assert {"workflow_id", "workflow_namespace", "workflow_name", "execution_id"} <= (
        stored.checkpoints[0].keys()
    )
    assert stored.checkpoints[0]["current_worker"] == "w1"


async def test_large_results_are_split_over_checkpoints(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "bigs", [3_000_000, 3_000_001, 10_000_000])
    await until(lambda: stored.state in TERMINAL)
    assert stored.state == "COMPLETED"
    for body in stored.checkpoints:
        assert len(json.dumps(body)) < 5_000_000 or len(body["events"]) == 1


@pytest.mark.parametrize("raw", ['{"n": 9007199254740993, "s": "\\ud800"}', "[1.50, 1E5]", "null"])
async def test_input_is_passed_and_recorded_unchanged(
    server: FakeServer, workers: Workers, source: str, raw: str
) -> None:
    bodies: list[str] = []

    async def keep(request: Any) -> None:
        if "/checkpoint/" in request.path:
            bodies.append((await request.read()).decode())

    server.faults.append(keep)
    await workers.start()
    stored = server.start(source, "echo", input_json=raw)
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == json.loads(raw)
    assert f'"value":{raw},' in bodies[0]


async def test_input_that_python_cannot_encode_fails_only_its_execution(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "echo", input_json="1e400")
    await until(lambda: stored.state in TERMINAL)
    assert stored.output["type"] == "UnserializableError"
    after = server.start(source, "echo", 1)
    await until(lambda: after.state in TERMINAL)
    assert after.output == 1


@pytest.mark.parametrize(
    ("text", "name", "type"),
    [
        ("1 / 0", "x", "ZeroDivisionError"),
        ("def", "x", "SyntaxError"),
        ("import nothing_like_this", "x", "ModuleNotFoundError"),
        ("raise SystemExit", "x", "ImportError"),
        ("", "x", "WorkflowNotFoundError"),
    ],
)
async def test_source_that_cannot_be_loaded_fails_its_executions(
    server: FakeServer, workers: Workers, text: str, name: str, type: str
) -> None:
    await workers.start()
    stored = server.start(text, name)
    await until(lambda: stored.state in TERMINAL)
    assert stored.output["type"] == type
    assert stored.types()[-2:] == ["WORKFLOW_STARTED", "WORKFLOW_FAILED"]


async def test_failed_workflow_records_the_reason(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "fails")
    await until(lambda: stored.state in TERMINAL)
    assert stored.state == "FAILED"
    assert failure_of(stored.output) == {"type": "ValueError", "message": "no luck"}


async def test_paused_workflow_continues_after_each_resume(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "asks", 7)
    await until(lambda: stored.state == "PAUSED")
    assert stored.types()[-3:] == ["TASK_STARTED", "TASK_PAUSED", "WORKFLOW_PAUSED"]
    paused = {"name": "first", "output": {"asked": 7}, "version": 1}
    assert stored.events[-1]["value"] == paused
    server.resume(stored, {"x": 1})
    await until(lambda: stored.state == "PAUSED")
    resumed = stored.types().index("WORKFLOW_RESUMED")
    assert stored.types()[resumed : resumed + 3] == [
        "WORKFLOW_RESUMED",
        "TASK_RESUMED",
        "TASK_COMPLETED",
    ]
    server.resume(stored, None)
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == [{"x": 1}, None]
    assert stored.types().count("WORKFLOW_STARTED") == 1


@pytest.mark.parametrize(
    "raw",
    [
        "1e400",
        "[1.0, -0, 1E+2, 9007199254740993, 9007199254740993.0]",
        '{"b": 1, "a": {"a": 1e400, "a": 2} , "events": [3], "value": 4}',
        '"\\ud800 \\u00e4 ä"',
        "1" * 5000,
        "null",
    ],
)
async def test_resume_body_is_recorded_unchanged(
    server: FakeServer, workers: Workers, source: str, raw: str
) -> None:
    await workers.start()
    stored = server.start(source, "ignores")
    for body in ('"the first"', raw):
        await until(lambda: stored.state in {"PAUSED", *TERMINAL})
        server.resume_with(stored, body)
    await until(lambda: stored.state in TERMINAL)
    assert (stored.state, stored.output) == ("COMPLETED", "ended")
    sent = "".join(stored.checkpoint_texts)
    call = [e["source_id"] for e in stored.events if e["type"] == "TASK_RESUMED"][1]
    for kind, value in (
        ("WORKFLOW_RESUMED", raw),
        ("TASK_RESUMED", f'{{"name":"second","input":{raw}}}'),
        (
            "TASK_COMPLETED",
            f'{{"storage_type":"inline","reference_id":"{call}","metadata":{{"value":{raw}}}}}',
        ),
    ):
        event = sent[sent.rindex(f'"type":"{kind}"') :]
        assert f'"value":{value},"time"' in event[: event.index('"subject"')], kind


async def test_resume_body_that_python_cannot_encode_is_replayed_on_another_worker(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start("w1")
    stored = server.start(source, "ignores")
    await until(lambda: stored.state == "PAUSED")
    server.resume_with(stored, "1e400")
    await until(lambda: stored.state == "PAUSED")
    await workers.stop("w1")
    await workers.start("w2")
    server.resume_with(stored, "-1e400")
    await until(lambda: stored.state in TERMINAL)
    assert (stored.state, stored.output) == ("COMPLETED", "ended")


async def test_resume_lost_with_its_worker_is_delivered_once(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "asks")
    await until(lambda: stored.state == "PAUSED")
    stored.state = "RESUMING"
    stored.append("WORKFLOW_RESUMING", "body")
    # A worker recorded the resume and was lost before the pause consumed the body.
    stored.append("WORKFLOW_RESUME_SCHEDULED")
    stored.append("WORKFLOW_RESUMED", "body")
    server.dispatch(stored)
    await until(lambda: stored.state == "PAUSED")
    completed = [e["value"] for e in stored.events if e["type"] == "TASK_COMPLETED"]
    assert [value["metadata"]["value"] for value in completed] == ["body"]
    assert stored.types().count("WORKFLOW_RESUMED") == 1
    assert stored.events[-1]["value"]["name"] == "second"


async def test_completed_tasks_are_not_repeated_by_another_worker(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start("w1")
    stored = server.start(source, "gates", ["a", "b", "c"])
    (tmp_path / "a").touch()
    await until(lambda: stored.types().count("TASK_STARTED") == 2)
    await workers.kill("w1")
    server.requeue(stored)
    await workers.start("w2")
    (tmp_path / "b").touch()
    (tmp_path / "c").touch()
    server.dispatch(stored, "w2")
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == ["a", "b", "c"]
    assert (tmp_path / "ledger").read_text().split() == ["a", "b", "b", "c"]
    assert stored.types().count("TASK_COMPLETED") == 3
    assert stored.types().count("WORKFLOW_STARTED") == 1


async def test_progress_is_sent_in_order_before_the_last_checkpoint(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "reports_steps", 120)
    await until(lambda: stored.state in TERMINAL)
    assert [item["value"]["step"] for item in stored.progress] == list(range(120))
    assert {item["task_name"] for item in stored.progress} == {"steps"}
    task_id = next(e["source_id"] for e in stored.events if e["type"] == "TASK_STARTED")
    assert {item["task_id"] for item in stored.progress} == {task_id}
    kinds = [path.split("/")[3] for _, path in server.requests if stored.execution_id in path]
    assert kinds.count("progress") > 1
    assert kinds[-1] == "checkpoint"


async def test_secrets_and_configs_are_read_from_the_server(
    server: FakeServer, workers: Workers, source: str
) -> None:
    server.secrets, server.configs = {"key": "canary"}, {"limit": 5}
    await workers.start()
    stored = server.start(source, "informs")
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == ["canary", 5]
    assert server.config_readers == [stored.execution_id]
    del server.secrets["key"]
    refused = server.start(source, "informs")
    await until(lambda: refused.state in TERMINAL)
    assert refused.output["message"] == "Secrets not declared by workflow: ['key']"
    assert len(server.registrations) == 1


async def test_previous_secret_is_read_from_the_server(
    server: FakeServer, workers: Workers, source: str
) -> None:
    server.secrets, server.previous_secrets = {"key": "new"}, {"key": "old"}
    await workers.start()
    stored = server.start(source, "rotates")
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == ["new", "old"]


async def test_task_with_approval_pauses_until_approved(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "pays", 5)
    await until(lambda: stored.state == "PAUSED")
    (call_id,) = server.approvals
    assert stored.events[-1]["value"]["name"] == f"approval:{call_id}"
    server.approvals[call_id]["status"] = "approved"
    server.resume(stored, None)
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == "paid 5"


async def test_called_workflow_is_started_once_and_polled(
    server: FakeServer, workers: Workers, source: str
) -> None:
    running = {"execution_id": "e", "state": "RUNNING", "output": None}
    server.run_answers = [running, running, {**running, "state": "COMPLETED", "output": {"m": 2}}]
    await workers.start()
    stored = server.start(source, "calls", exec_token="token")
    await until(lambda: stored.state in TERMINAL)
    assert stored.output == {"m": 2}
    assert {(name, json.dumps(given)) for name, _, given in server.runs} == {
        ("billing/invoice", '{"n": 1}')
    }
    (key,) = {key for _, key, _ in server.runs}
    assert key is not None
    assert key.startswith(f"{stored.execution_id}:call_")


async def test_failure_of_a_called_workflow_fails_the_caller(
    server: FakeServer, workers: Workers, source: str
) -> None:
    failure = {"type": "OwnError", "message": "no"}
    server.run_answers = [{"execution_id": "e", "state": "FAILED", "output": failure}]
    await workers.start()
    stored = server.start(source, "calls")
    await until(lambda: stored.state in TERMINAL)
    assert (stored.state, stored.output) == ("FAILED", failure)


async def test_transient_run_sends_only_its_start_and_end(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start()
    stored = server.start(source, "hello", "x", transient=True)
    await until(lambda: stored.state in TERMINAL)
    assert stored.types()[2:] == ["WORKFLOW_STARTED", "WORKFLOW_COMPLETED"]


@pytest.mark.parametrize("loses_start", [True, False])
async def test_worker_of_a_transient_run_is_lost_fails_it_without_a_second_run(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path, loses_start: bool
) -> None:
    await workers.start()
    stored = server.start(source, "gates", ["a"], transient=True)
    await until(lambda: (tmp_path / "ledger").exists() and "WORKFLOW_STARTED" in stored.types())
    if loses_start:
        stored.events = [e for e in stored.events if e["type"] != "WORKFLOW_STARTED"]
    server.requeue(stored)
    server.dispatch(stored)
    await until(lambda: stored.state in TERMINAL)
    assert stored.state == "FAILED"
    assert stored.output["type"] == "WorkerProcessCrashed"
    assert (tmp_path / "ledger").read_text() == "a\n"


async def test_60_concurrent_executions_complete(
    server: FakeServer, workers: Workers, source: str
) -> None:
    await workers.start(max_concurrent_executions=64)
    all_stored = [server.start(source, "hello", str(n)) for n in range(60)]
    await until(lambda: all(stored.state in TERMINAL for stored in all_stored))
    assert [stored.output for stored in all_stored] == [f"Hello, {n}" for n in range(60)]
    assert len([path for _, path in server.requests if "/claim/" in path]) == 60


async def test_worker_without_a_limit_releases_no_execution(
    server: FakeServer, workers: Workers, source: str, tmp_path: Path
) -> None:
    await workers.start(max_concurrent_executions=0)
    assert server.registrations[0]["max_concurrent_executions"] == 0
    all_stored = [server.start(source, "gates", ["a"]) for _ in range(5)]
    await until(lambda: all("TASK_STARTED" in stored.types() for stored in all_stored))
    (tmp_path / "a").touch()
    await until(lambda: all(stored.state in TERMINAL for stored in all_stored))
    assert [stored.releases for stored in all_stored] == [[]] * 5
