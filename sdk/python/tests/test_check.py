"""`windlass-check` and `replay`: executions against a changed source, with nothing new run."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from effects import charge, charge_card, effects
from windlass import (
    ExecutionContext,
    as_completed,
    first,
    parallel,
    pause,
    sleep,
    task,
    uuid4,
    workflow,
)
from windlass._json import encode, loads
from windlass._payloads import Payloads
from windlass.check._cli import main
from windlass.check._lint import lint
from windlass.codec import AesGcmCodec
from windlass.testing import Engine, Execution, replay
from windlass.testing._comparison import ReplayReport, compare
from windlass.workflow import Workflow


@task
async def notify(text: str) -> str:
    effects.append(text)
    return text


def order(body: Any) -> Workflow[Any, Any]:
    return workflow.with_options(name="order")(body)


@order
async def order_v1(ctx: ExecutionContext[int]) -> Any:
    amounts = await parallel(charge(ctx.input), charge(2))
    decision = await pause("review")
    return [amounts, decision, await notify("done")]


@order
async def order_appended(ctx: ExecutionContext[int]) -> Any:
    amounts = await parallel(charge(ctx.input), charge(2))
    decision = await pause("review")
    await notify("new step")
    return [amounts, decision, await notify("done")]


@order
async def order_renamed(ctx: ExecutionContext[int]) -> Any:
    amounts = await parallel(charge(ctx.input), charge_card(2))
    decision = await pause("review")
    return [amounts, decision, await notify("done")]


@order
async def order_without_pause(ctx: ExecutionContext[int]) -> Any:
    return [await parallel(charge(ctx.input), charge(2)), await notify("done")]


@order
async def order_broken(ctx: ExecutionContext[int]) -> Any:
    await parallel(charge(ctx.input), charge(2))
    raise KeyError("x")


@order
async def order_with_other_pause(ctx: ExecutionContext[int]) -> Any:
    await parallel(charge(ctx.input), charge(2))
    return await pause("approval")


def export(execution: Execution) -> dict[str, Any]:
    return {
        "execution_id": execution.execution_id,
        "workflow_namespace": "default",
        "workflow_name": "order",
        "input": execution.input,
        "state": str(execution.state),
        "events": [asdict(event) for event in execution.events],
    }


async def paused(engine: Engine) -> dict[str, Any]:
    exported = export(await engine.start(order_v1, 1))
    effects.clear()
    return exported


async def test_unchanged_and_appended_sources_wait_at_the_same_place(engine: Engine) -> None:
    exported = await paused(engine)
    for source in (order_v1, order_appended):
        report = await replay(source, exported)
        assert (report.verdict, report.step) == ("waiting", None)
        assert report.message == "waits at the same place: review"
    assert effects == []


@pytest.mark.parametrize(
    ("source", "step", "message"),
    [
        (order_renamed, 3, "differs at step 3: the log has charge"),
        (order_without_pause, 4, "the log has pause"),
        (order_broken, 4, "fails with KeyError: 'x'"),
        (order_with_other_pause, 4, "the log has pause"),
    ],
    ids=lambda value: getattr(getattr(value, "func", None), "__name__", ""),
)
async def test_changed_source_is_different_with_its_step_and_runs_nothing(
    engine: Engine, source: Workflow[Any, Any], step: int, message: str
) -> None:
    exported = await paused(engine)
    report = await compare(source, exported)
    assert (report.verdict, report.step) == ("different", step)
    assert message in report.message
    assert effects == []
    with pytest.raises(AssertionError, match=f"differs at step {step}"):
        await replay(source, exported)


async def test_renamed_task_is_named_with_the_new_call_and_its_line(engine: Engine) -> None:
    report = await compare(order_renamed, await paused(engine))
    assert f"the source makes charge_card at {__file__}:" in report.message


async def concurrent(ctx: ExecutionContext[int]) -> Any:
    async def branch(number: int) -> int:
        await charge(number)
        return await charge(number + 1)

    parts: list[Any] = [await parallel(branch(10), branch(20), charge(1), limit=2)]
    parts.append(await asyncio.gather(branch(30), branch(40)))
    parts.append([await part async for part in as_completed([charge(50), branch(60)])])
    parts.append([await first(charge(70), branch(80)), str(await uuid4())])
    await asyncio.sleep(10)
    await sleep(3600)
    return [*parts, await notify("end")]


async def test_execution_cut_anywhere_is_the_same_under_its_own_source(engine: Engine) -> None:
    source = order(concurrent)
    execution = await engine.start(source, 1)
    await engine.advance(7200)
    whole = export(execution)
    assert whole["state"] == "COMPLETED"
    assert (await replay(source, whole)).verdict == "same"
    effects.clear()
    for length in range(len(whole["events"])):
        cut = {**whole, "events": whole["events"][:length], "state": "RUNNING"}
        assert (await replay(source, cut)).verdict in {"same", "waiting"}, length
    assert effects == []


async def test_started_call_is_the_place_at_which_the_execution_waits(engine: Engine) -> None:
    @order
    async def sleeps(ctx: ExecutionContext[int]) -> Any:
        await charge(1)
        await sleep(3600)

    exported = export(await engine.start(sleeps, 1))
    report = await replay(sleeps, exported)
    assert report.message == "waits at the same place: sleep"


async def test_finished_execution_with_another_output_is_different(engine: Engine) -> None:
    @order
    async def changed(ctx: ExecutionContext[int]) -> Any:
        return await charge(ctx.input) + 1

    @order
    async def original(ctx: ExecutionContext[int]) -> Any:
        return await charge(ctx.input)

    exported = export(await engine.start(original, 1))
    assert (await replay(original, exported)).verdict == "same"
    report = await compare(changed, exported)
    assert report.message == "differs after step 1: its output is 2 instead of 1"


async def test_cleanup_after_the_replay_runs_nothing(engine: Engine) -> None:
    @order
    async def cleans_up(ctx: ExecutionContext[int]) -> Any:
        try:
            return await charge(1)
        finally:
            await notify("cleanup")

    exported = {**export(await engine.start(cleans_up, 1)), "events": [], "state": "RUNNING"}
    effects.clear()
    assert (await replay(cleans_up, exported)).verdict == "same"
    assert effects == []


async def test_file_of_an_execution_is_replayed(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "execution.json"
    path.write_text(json.dumps(await paused(engine)))
    assert isinstance(await replay(order_v1, path), ReplayReport)
    assert (await replay(order_v1, str(path))).verdict == "waiting"
    with pytest.raises(ValueError, match="not an exported execution with its log"):
        await replay(order_v1, {"execution_id": "x", "state": "PAUSED"})


SOURCE = """
from dataclasses import dataclass

from windlass import ExecutionContext, parallel, pause, task, workflow

@dataclass
class Sum:
    amount: int

@task
async def charge(amount: int) -> int:
    raise SystemExit("must not run")

@workflow
async def order(ctx: ExecutionContext[int]):
    amounts = await parallel(charge(ctx.input), charge(2))
    return [amounts, await pause("review")]
"""


def check(
    capsys: pytest.CaptureFixture[str], source: str, tmp_path: Path, *arguments: str
) -> tuple[int, str, str]:
    path = tmp_path / "orders.py"
    path.write_text(source)
    code = main([str(path), *arguments])
    output = capsys.readouterr()
    return code, output.out, output.err


@pytest.fixture
async def exported(engine: Engine, tmp_path: Path) -> str:
    path = tmp_path / "execution.json"
    path.write_text(json.dumps(await paused(engine)))
    return str(path)


def test_command_prints_a_line_for_each_execution_and_fails_for_a_difference(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, exported: str
) -> None:
    arguments = ["--exported", exported, "--exported", exported]
    code, out, _ = check(capsys, SOURCE, tmp_path, *arguments)
    assert code == 0
    assert out.count("PAUSED     waits at the same place: review\n") == 2
    assert "2 executions: 0 same, 2 waiting at the same place, 0 different\n" in out
    code, out, _ = check(capsys, SOURCE, tmp_path, "--exported", exported)
    assert "1 execution: 0 same, 1 waiting at the same place, 0 different\n" in out
    changed = SOURCE.replace("charge(2)", "charge(3)")
    code, out, _ = check(capsys, changed, tmp_path, *arguments)
    assert code == 1
    assert out.count("differs at step 3: the log has charge") == 2
    other = SOURCE.replace("async def order(", "async def orders(")
    code, out, _ = check(capsys, other, tmp_path, *arguments)
    assert (code, "the file does not define its workflow" in out) == (1, True)


@pytest.mark.parametrize(
    ("source", "arguments", "message"),
    [
        (SOURCE, [], "nothing to check: pass --server URL, --exported FILE or --lint"),
        (SOURCE, ["--exported", "missing.json"], "missing.json"),
        ("import missing_module", ["--exported", "EXPORTED"], "No module named 'missing_module'"),
        ("x = 1", ["--exported", "EXPORTED"], "defines no workflow"),
        (SOURCE, ["--server", "http://127.0.0.1:9", "--token", ""], "got no answer"),
        (SOURCE, ["--server", "ftp://x"], "must begin with http:// or https://"),
        ("def f(:", ["--lint"], "invalid syntax"),
    ],
)
def test_command_that_cannot_check_says_why(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    exported: str,
    source: str,
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("windlass.check._cli.RETRY_FOR_S", 0.1)
    arguments = [argument.replace("EXPORTED", exported) for argument in arguments]
    code, out, err = check(capsys, source, tmp_path, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


CODEC_SOURCE = """
import base64
from windlass.codec import AesGcmCodec

def create():
    return AesGcmCodec({"k": bytes(16)}, current="k")
"""


@pytest.fixture
async def encoded(engine: Engine, tmp_path: Path) -> str:
    """File of an execution whose values are encoded, as the API exports it."""
    (tmp_path / "codec_of_check.py").write_text(CODEC_SOURCE)
    payloads = Payloads(AesGcmCodec({"k": bytes(16)}, current="k"))
    exported = await paused(engine)
    # Entries begin with their id, as in a checkpoint.
    texts = [encode({"id": event["id"], **event}) for event in exported["events"]]
    events = [loads(payloads.wrap_event(text)) for text in texts]
    path = tmp_path / "encoded.json"
    path.write_text(encode({**exported, "input": payloads.wrap_value(1), "events": events}))
    return str(path)


def test_execution_with_encoded_values_is_checked_with_its_codec(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    encoded: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert "$codec" in Path(encoded).read_text()
    options = ["--exported", encoded, "--path", str(tmp_path), "--codec", "codec_of_check:create"]
    code, out, err = check(capsys, SOURCE, tmp_path, *options)
    assert (code, err) == (0, "")
    assert "waits at the same place: review" in out
    changed = SOURCE.replace("charge(2)", "charge(3)")
    code, out, _ = check(capsys, changed, tmp_path, *options)
    assert (code, "differs at step 3: the log has charge" in out) == (1, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "encoded with the codec 'aes-gcm', but this process has none; name it with --codec"),
        (["--codec", "test_payloads:create_other_codec"], "windlass-check: "),
        (["--codec", "missing_module:create"], "--codec missing_module:create: ModuleNotFound"),
        (["--codec", "json:JSONDecoder"], "--codec json:JSONDecoder"),
    ],
)
def test_execution_that_cannot_be_decoded_is_not_checked(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    encoded: str,
    options: list[str],
    message: str,
) -> None:
    code, out, err = check(capsys, SOURCE, tmp_path, "--exported", encoded, *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_command_is_installed() -> None:
    command = Path(sys.executable).with_name("windlass-check")
    ended = subprocess.run(
        [command, "--help"], capture_output=True, text=True, check=False, env=os.environ
    )
    assert (ended.returncode, "--exported" in ended.stdout) == (0, True)


LINTED = """
import asyncio, os, random as rnd, time
import datetime
from datetime import date, datetime as dt
from pathlib import Path
from uuid import uuid4 as new_id
import httpx
from windlass import ExecutionContext, task, workflow, now, uuid4, sleep
import windlass as w

@task
async def fetch(url):
    return httpx.get(url, timeout=time.time())

def helper():
    return rnd.random() + deeper()

def deeper():
    return open("x").read()

def unreached():
    return time.time()

class Box:
    @w.workflow.with_options(name="boxed")
    async def boxed(self, ctx):
        return os.environ["HOME"]

@workflow
async def order(ctx: ExecutionContext):
    await fetch(ctx.input)
    started = time.time()
    today = date.today(), dt.now(), datetime.datetime.utcnow()
    await asyncio.sleep(1)
    text = Path("a").read_text()
    await fetch(new_id())
    await sleep(5)
    await now()
    await uuid4()
    return helper(), [item for item in sorted(today)], hash("a")
"""


def test_lint_names_what_reaches_a_workflow_outside_of_tasks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "linted.py"
    path.write_text(LINTED)
    found = [(finding.line, finding.message.partition(":")[0]) for finding in lint(path)]
    assert found == [
        (16, "random.random"),
        (19, "open"),
        (27, "os.environ"),
        (32, "time.time"),
        (33, "datetime.date.today"),
        (33, "datetime.datetime.now"),
        (33, "datetime.datetime.utcnow"),
        (34, "asyncio.sleep"),
        (35, "read_text"),
        (36, "uuid.uuid4"),
        (40, "hash"),
    ]
    assert main([str(path), "--lint"]) == 1
    out = capsys.readouterr().out
    assert (
        f"{path}:16:12: random.random: randomness reaches the workflow order in helper: "
        "use randint(), choice(), uuid4() or a task\n"
    ) in out
    path.write_text(SOURCE)
    assert main([str(path), "--lint"]) == 0
