"""Measures the SDK alone, without a worker or a server. Usage:

    python bench/sdk.py

Prints one line of JSON for each figure: `{"row": …, "figure": …, "value": …}`. Times are those of
the processor, the lowest of several turns: other work on the machine can only add to them.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from run_fixture import RecordingJournal, run_from
from windlass import ExecutionContext, parallel, task, workflow
from windlass.testing import Engine, assert_survives_crashes

Row = dict[str, str | bool | int | float | list[str] | None]
Rows = list[Row]

TURNS = 3
MEBIBYTE = 1024 * 1024
STEPS = 10_000
IMPORTS = (
    "import windlass",
    "from windlass import ExecutionContext, task, workflow",
    "from windlass import ExecutionContext, parallel, sleep, task, workflow",
    "import asyncio",
    "import windlass.worker._cli",
)
IMPORT = """
import time
before = time.process_time()
{statement}
used = time.process_time() - before
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(used * 1e3, int(peak.split()[1]) / 1024)
"""


@task
async def add_one(number: int) -> int:
    return number + 1


@task
async def count(rows: Rows) -> int:
    return len(rows)


@task
async def length(text: str) -> int:
    return len(text)


@task
async def echo(rows: Rows) -> Rows:
    return rows


@workflow
async def in_parallel(ctx: ExecutionContext[int]) -> int:
    results = await parallel(*[add_one(number) for number in range(ctx.input)])
    return len(results)


@workflow
async def in_sequence(ctx: ExecutionContext[int]) -> int:
    total = 0
    for number in range(ctx.input):
        total += await add_one(number)
    return total


@workflow
async def count_rows(ctx: ExecutionContext[int]) -> int:
    return await count(rows_of(ctx.input))


@workflow
async def measure_text(ctx: ExecutionContext[int]) -> int:
    return await length("x" * ctx.input * MEBIBYTE)


@workflow
async def echo_rows(ctx: ExecutionContext[int]) -> int:
    return len(await echo(rows_of(ctx.input)))


def main() -> None:
    report_imports()
    report_steps()
    report_arguments()
    report_replay()
    report_testing()


def report(row: str, figure: str, value: float) -> None:
    print(json.dumps({"row": row, "figure": figure, "value": round(value, 2)}), flush=True)


def report_imports() -> None:
    for statement in IMPORTS:
        # The first turn compiles the byte code, so it is the slowest.
        with tempfile.TemporaryDirectory() as folder:
            runs = [import_in_process(statement, folder) for _ in range(TURNS)]
        report(statement, "CPU-ms", min(cpu_ms for cpu_ms, _ in runs))
        report(statement, "MB", min(mebibytes for _, mebibytes in runs))


def import_in_process(statement: str, folder: str) -> tuple[float, float]:
    """Returns CPU-ms and MB of a process that has run only this statement, with its byte code."""
    code = [sys.executable, "-c", IMPORT.format(statement=statement)]
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    cpu_ms, mebibytes = subprocess.check_output(code, env=environment, text=True).split()
    return float(cpu_ms), float(mebibytes)


def report_steps() -> None:
    for work in (in_parallel, in_sequence):
        used_ms, _ = best(partial(run_from, work, input=1000))
        report(f"1,000 tasks, {work.name}", "CPU-µs per task", used_ms)


def report_arguments() -> None:
    for size in (1, 10):
        rows_of(size)
        for label, work in (
            ("rows as argument", count_rows),
            ("rows as argument and result", echo_rows),
            ("text as argument", measure_text),
        ):
            used_ms, _ = best(partial(run_from, work, input=size))
            report(f"{size} MB of {label}", "CPU-ms", used_ms)


@lru_cache
def rows_of(mebibytes: int) -> Rows:
    """Returns rows whose JSON has about so many MiB."""
    row: Row = {"name": "Ada Lovelace", "tags": ["a", "b"], "price": 12.5, "ok": True, "note": None}
    return [{"id": number, **row} for number in range(mebibytes * 11_200)]


def report_replay() -> None:
    for work in (in_sequence, in_parallel):
        recorded = asyncio.run(run_from(work, input=STEPS))
        # Without their last events, the workflow and `parallel` run again, and no task does.
        ends = {"parallel", work.name}
        kept = [
            event
            for event in recorded.events
            if not (event.name in ends and event.type.endswith("COMPLETED"))
        ]
        used_ms, journal = best(partial(run_from, work, kept, STEPS))
        assert len(journal.entries) < 5
        report(f"replay of 10,000 finished tasks, {work.name}", "CPU-ms", used_ms)


def report_testing() -> None:
    started_at = time.process_time()
    asyncio.run(run_in_engine(1000))
    report("1,000 hello in windlass.testing", "CPU-s", time.process_time() - started_at)
    # With the processes of other hash seeds, which have ended then.
    used_before_s = sum(os.times()[:4])
    asyncio.run(assert_survives_crashes(in_sequence, 24))
    report("crash test of a 50-event workflow", "CPU-s", sum(os.times()[:4]) - used_before_s)


async def run_in_engine(executions: int) -> None:
    engine = Engine()
    for number in range(executions):
        run = await engine.start(in_sequence, 1)
        assert run.result() == 1, number


def best(start: Callable[[], Coroutine[Any, Any, RecordingJournal]]) -> tuple[float, Any]:
    """Returns the CPU-ms of the fastest turn, and what it returned."""
    runs = []
    for _ in range(TURNS):
        before = time.process_time()
        journal = asyncio.run(start())
        runs.append(((time.process_time() - before) * 1e3, journal))
        assert journal.state == "COMPLETED"
    return min(runs, key=lambda run: run[0])


if __name__ == "__main__":
    main()
