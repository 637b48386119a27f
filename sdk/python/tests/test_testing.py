"""`windlass.testing`: workflows without a server, in virtual time."""

from __future__ import annotations

import asyncio
import os
import random
import runpy
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from conftest import HANG_S
from windlass import (
    ExecutionContext,
    as_completed,
    call,
    current,
    now,
    parallel,
    pause,
    progress,
    sleep,
    task,
    uuid4,
    workflow,
)
from windlass.errors import ExecutionError
from windlass.secrets import previous_secret
from windlass.testing import Engine, assert_deterministic, assert_survives_crashes


@dataclass
class Receipt:
    id: str


@dataclass
class Decision:
    approved: bool


charges: list[int] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    charges.clear()


@task.with_options(secret_requests=["STRIPE"], retry_max_attempts=2, retry_delay=3600)
async def charge(amount: int, secrets: dict[str, str] | None = None) -> Receipt:
    assert secrets == {"STRIPE": "sk"}
    charges.append(amount)
    return Receipt(f"r{amount}")


@task.with_options(requires_approval=True)
async def ship(receipt: Receipt) -> str:
    return f"shipped {receipt.id}"


@workflow
async def order(ctx: ExecutionContext[int]) -> list[Any]:
    receipt = await charge(ctx.input)
    decision = await pause("review", {"receipt": receipt.id}, type=Decision)
    if not decision.approved:
        return ["refused"]
    await sleep(timedelta(days=30))
    return [await ship(receipt), (await now()).isoformat()]


@task.with_options(secret_requests=["STRIPE"])
async def charge_during_rotation(secrets: dict[str, str] | None = None) -> list[str]:
    assert secrets is not None
    # Only lengths are returned: results are recorded.
    return [str(len(secrets["STRIPE"])), str(len(await previous_secret("STRIPE")))]


@workflow
async def rotate(ctx: ExecutionContext[bool]) -> list[str]:
    if ctx.input:
        await previous_secret("STRIPE")
    return await charge_during_rotation()


async def test_previous_secret_in_a_task(engine: Engine) -> None:
    engine.secrets["STRIPE"] = "new-key"
    engine.previous_secrets["STRIPE"] = "old"
    run = await engine.start(rotate, False)
    assert run.result() == ["7", "3"]
    assert "old" not in str(run.events)


async def test_previous_secret_that_is_not_kept_fails_the_task(engine: Engine) -> None:
    engine.secrets["STRIPE"] = "new-key"
    run = await engine.start(rotate, False)
    with pytest.raises(ExecutionError, match=r"previous secret STRIPE does not exist"):
        run.result()


async def test_previous_secret_outside_a_task_is_refused(engine: Engine) -> None:
    engine.previous_secrets["STRIPE"] = "old"
    run = await engine.start(rotate, True)
    with pytest.raises(ExecutionError, match="only inside a task"):
        run.result()


async def test_order_from_start_to_end(engine: Engine) -> None:
    engine.secrets["STRIPE"] = "sk"
    run = await engine.start(order, 5)
    assert (run.paused_on, run.pause_output) == ("review", {"receipt": "r5"})
    await run.resume(Decision(approved=True))
    assert run.state == "RUNNING"
    before = time.monotonic()
    await engine.advance(timedelta(days=29))
    assert run.state == "RUNNING"
    await engine.advance(timedelta(days=1))
    assert time.monotonic() - before < HANG_S
    assert (run.paused_on or "").startswith("approval:ship")
    await run.approve()
    shipped, moment = run.result()
    assert shipped == "shipped r5"
    assert datetime.fromisoformat(moment).astimezone() == datetime(2026, 1, 31, tzinfo=UTC)


async def test_mock_replaces_a_task_and_counts_its_calls(engine: Engine) -> None:
    engine.secrets["STRIPE"] = "sk"
    mocked = engine.mock(charge, returns=Receipt("mock"))
    run = await engine.start(order, 5)
    assert run.pause_output == {"receipt": "mock"}
    mocked.assert_called_once_with(5, secrets={"STRIPE": "sk"})
    assert charges == []


async def test_failed_attempts_wait_in_virtual_time(engine: Engine) -> None:
    engine.secrets["STRIPE"] = "sk"
    mocked = engine.mock(charge, effect=[ValueError("one"), ValueError("two"), Receipt("r")])
    run = await engine.start(order, 5)
    assert mocked.call_count == 1
    await engine.advance(timedelta(minutes=10))
    assert mocked.call_count == 2
    await engine.advance(timedelta(minutes=10))
    assert run.paused_on == "review"


async def test_result_of_a_failed_execution_raises_its_failure(engine: Engine) -> None:
    engine.secrets["STRIPE"] = "sk"
    engine.mock(charge, raises=KeyError("card"))
    run = await engine.start(order, 5)
    await engine.advance(timedelta(days=1))
    with pytest.raises(KeyError, match="card"):
        run.result()


async def test_missing_secret_fails_with_what_to_do(engine: Engine) -> None:
    run = await engine.start(order, 5)
    with pytest.raises(ExecutionError, match=r"STRIPE does not exist; set engine\.secrets"):
        run.result()


async def test_result_before_the_end_is_an_assertion_error(engine: Engine) -> None:
    engine.secrets["STRIPE"] = "sk"
    run = await engine.start(order, 5)
    with pytest.raises(AssertionError, match="it is PAUSED on 'review'"):
        run.result()


async def test_rejected_approval_fails_the_task(engine: Engine) -> None:
    engine.secrets["STRIPE"] = "sk"
    run = await engine.start(order, 5)
    await run.resume(Decision(approved=True))
    await engine.advance(timedelta(days=30))
    await run.reject("too dear")
    with pytest.raises(ExecutionError, match="too dear"):
        run.result()


@workflow
async def child(ctx: ExecutionContext[int]) -> int:
    await sleep(60)
    return ctx.input * 2


@workflow
async def parent(ctx: ExecutionContext[Any]) -> list[Any]:
    await progress({"n": 1})
    return list(await parallel(call(child, 1), call("default/child", 2)))


async def test_sub_workflows_run_in_the_same_engine(engine: Engine) -> None:
    engine.register(child)
    run = await engine.start(parent)
    await engine.advance(60)
    assert run.result() == [2, 4]
    assert [execution.workflow.name for execution in engine.executions] == [
        "parent",
        "child",
        "child",
    ]


async def test_cancel_ends_the_execution(engine: Engine) -> None:
    run = await engine.start(child, 1)
    await run.cancel()
    assert run.state == "CANCELLED"


async def test_synchronous_tasks_and_timeouts_use_virtual_time(engine: Engine) -> None:
    @task
    def blocks() -> str:
        time.sleep(0.05)
        return "done"

    @task.with_options(timeout=3600)
    async def hangs() -> None:
        await asyncio.sleep(10**6)

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> str:
        result = await blocks()
        try:
            await hangs()
        except ExecutionError:
            return f"{result}, then a timeout"
        return "no timeout"

    run = await engine.start(body)
    assert run.state == "RUNNING"
    await engine.advance(3600)
    assert run.result() == "done, then a timeout"


async def test_random_values_are_the_same_in_every_test(engine: Engine) -> None:
    @workflow
    async def body(ctx: ExecutionContext[Any]) -> str:
        return str(await uuid4())

    first = (await engine.start(body)).result()
    with Engine() as other:
        assert (await other.start(body)).result() == first


def with_secret(engine: Engine) -> None:
    engine.secrets["STRIPE"] = "sk"


async def test_durable_workflow_survives_crashes() -> None:
    report = await assert_survives_crashes(
        order, 5, resumes=[Decision(approved=True)], setup=with_secret
    )
    assert report.cuts == report.events + 1 > 15


@task
async def increments() -> int:
    charges.append(1)
    return len(charges)


async def test_workflow_with_state_outside_its_log_does_not_survive_crashes() -> None:
    @workflow
    async def body(ctx: ExecutionContext[Any]) -> int:
        return await increments()

    with pytest.raises(
        AssertionError, match="a crash after event 0 changes the execution"
    ) as error:
        await assert_survives_crashes(body)
    assert "uninterrupted:" in str(error.value)
    assert "TASK_COMPLETED" in str(error.value)


async def test_workflow_that_depends_on_the_clock_or_on_random_numbers_is_named() -> None:
    @task
    async def step(value: float) -> None: ...

    @workflow
    async def clock(ctx: ExecutionContext[Any]) -> None:
        await step(time.time())

    @workflow
    async def dice(ctx: ExecutionContext[Any]) -> None:
        await step(random.random())

    @workflow
    async def good(ctx: ExecutionContext[Any]) -> None:
        await step(len(str(await uuid4())))
        assert current().call_id == ""

    for bad in (clock, dice):
        with pytest.raises(AssertionError, match=r"step_.* at .*test_testing\.py:\d+ is not in"):
            await assert_deterministic(bad)
    await assert_deterministic(good)


@task
async def visit(city: str) -> int:
    charges.append(1)
    return len(city)


@workflow
async def visits_a_set(ctx: ExecutionContext[list[str]]) -> int:
    return sum([await visit(city) for city in set(ctx.input)])


@workflow
async def visits_in_order(ctx: ExecutionContext[list[str]]) -> int:
    print("between the lines of the answer")  # noqa: T201
    total = sum([await visit(city) for city in sorted(set(ctx.input))])
    await sleep(timedelta(days=1))
    return total


CITIES = ["Oslo", "Rome", "Lima", "Quito", "Seoul"]


async def test_order_of_a_set_does_not_survive_a_crash_with_another_hash_seed() -> None:
    with pytest.raises(
        AssertionError,
        match=r"a crash after event \d+ changes the execution in a process with another hash seed: "
        r"the call visit_.* at .*test_testing\.py:\d+ is not in the log",
    ) as error:
        await assert_survives_crashes(visits_a_set, CITIES)
    assert "PYTHONHASHSEED=" in str(error.value)
    assert "<- crash" in str(error.value)
    # Within one process, the order is always the same.
    report = await assert_survives_crashes(visits_a_set, CITIES, hash_seeds=())
    assert report.hash_seeds == 0


async def test_order_of_a_set_is_not_deterministic() -> None:
    with pytest.raises(AssertionError, match=r"hash seed, the call visit_.*\.py:\d+ is not"):
        await assert_deterministic(visits_a_set, CITIES)
    await assert_deterministic(visits_a_set, CITIES, hash_seeds=())


async def test_sorted_set_survives_with_other_hash_seeds_where_no_task_runs() -> None:
    report = await assert_survives_crashes(visits_in_order, CITIES)
    assert report.hash_seeds == 2
    await assert_deterministic(visits_in_order, CITIES)
    report = await assert_survives_crashes(kills, hash_seeds=[1, 2, 3])
    assert report.hash_seeds == 3


@task
async def kills_the_process() -> None:
    if os.environ.get("PYTHONHASHSEED") in {"1", "2", "3"}:
        os.kill(os.getpid(), signal.SIGKILL)


@workflow
async def kills(ctx: ExecutionContext[Any]) -> None:
    await kills_the_process()


async def test_workflow_of_a_function_is_not_found_by_other_processes() -> None:
    @workflow
    async def local(ctx: ExecutionContext[list[str]]) -> int:
        return sum([await visit(city) for city in set(ctx.input)])

    assert (await assert_survives_crashes(local, CITIES)).hash_seeds == 0


async def test_workflow_that_another_process_cannot_import_is_an_assertion_error(
    tmp_path: Path,
) -> None:
    file = tmp_path / "only_here.py"
    file.write_text(
        "import os\n"
        "from windlass import workflow\n"
        "if 'PYTHONHASHSEED' in os.environ:\n"
        "    raise LookupError('not here')\n"
        "@workflow\n"
        "async def echo(ctx): return ctx.input\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONHASHSEED", raising=False)
        names = runpy.run_path(str(file), run_name="only_here")
        with pytest.raises(AssertionError, match=r"hash_seeds=\(\) leaves this out[\s\S]*not here"):
            await assert_survives_crashes(names["echo"])
        assert (await assert_survives_crashes(names["echo"], hash_seeds=())).cuts == 3


async def test_script_without_a_main_guard_is_refused_in_the_first_process_it_starts(
    tmp_path: Path,
) -> None:
    file, imports = tmp_path / "unguarded.py", tmp_path / "imports"
    file.write_text(
        "import asyncio\n"
        "from windlass import workflow\n"
        "from windlass.testing import assert_survives_crashes\n"
        f"open({str(imports)!r}, 'a').write('once ')\n"
        "@workflow\n"
        "async def echo(ctx): return ctx.input\n"
        "asyncio.run(assert_survives_crashes(echo, hash_seeds=[1, 2]))\n"
    )
    ended = await asyncio.to_thread(
        subprocess.run, [sys.executable, str(file)], capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 1
    expected = f"{file} runs a crash test while it is imported; put the call under"
    assert f'{expected} `if __name__ == "__main__":`' in ended.stderr
    assert imports.read_text().split() == ["once"] * 3


@workflow
async def takes_the_first(ctx: ExecutionContext[Any]) -> int:
    calls = [sleep(1), sleep(2), visit("Lima"), visit("Rome")]
    async for done in as_completed(calls, limit=1):
        await done
        break
    return 1


async def test_call_that_is_made_and_never_started_is_no_difference(engine: Engine) -> None:
    run = await engine.start(takes_the_first)
    await engine.advance(10)
    assert run.result() == 1
    assert "visit" not in {event.name for event in run.events}
    await assert_deterministic(takes_the_first)
    report = await assert_survives_crashes(takes_the_first)
    assert report.hash_seeds == 2
