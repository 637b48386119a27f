"""The examples: what they return, and that a crash after any event changes nothing."""

from __future__ import annotations

import asyncio
import csv
import hmac
import importlib.util
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from crash_cuts import count_cuts
from windlass import ExecutionContext, current, pause, workflow
from windlass.testing import Engine, assert_survives_crashes
from windlass.workflow import Workflow

FOLDER = Path(__file__).parents[3] / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fail_four_times(engine: Engine, module: ModuleType) -> None:
    def fetch(url: str) -> dict[str, Any]:
        if current().attempt < 5:
            raise ConnectionError(f"attempt {current().attempt}")
        return {"EUR": 1, "USD": 2}

    engine.mock(module.fetch_rates, effect=fetch)


def answer(engine: Engine, module: ModuleType) -> None:
    def ask(server: str, model: str, messages: list[Any]) -> dict[str, Any]:
        if len(messages) > 2 * int(messages[0]["content"]):
            return {"role": "assistant", "content": messages[-1]["content"]}
        arguments = json.dumps({"city": "x" * len(messages)})
        call = {"id": "1", "function": {"name": "temperature", "arguments": arguments}}
        return {"role": "assistant", "content": "", "tool_calls": [call]}

    engine.mock(module.ask_model, effect=ask)


def set_key(engine: Engine, module: ModuleType) -> None:
    engine.secrets["SIGNING_KEY"] = "key"


def no_setup(engine: Engine, module: ModuleType) -> None:
    pass


Case = tuple[Any, Any]


@dataclass(frozen=True)
class Example:
    """A workflow of an example, inputs with their outputs, or the type of the failure.

    `cuts`: at how many places the crash test cuts its executions, so that a shorter one is noticed.
    """

    source: str
    workflow: str
    cases: list[Case]
    cuts: int
    resumes: list[Any] = field(default_factory=list)
    setup: Callable[[Engine, ModuleType], None] = no_setup

    def __str__(self) -> str:
        return self.workflow


def trips() -> Iterator[Case]:
    """Trips that fail at each of their bookings."""
    for length in range(15):
        yield [*(f"hotel {n}" for n in range(length)), "sold out"], "SoldOutError"


def books() -> Iterator[Case]:
    """More pages than run at a time, and fewer."""
    for pages in range(18):
        yield pages, sum(5 + page % 7 for page in range(pages))


def orders() -> Iterator[Case]:
    for count in range(12):
        parcels = [{"city": "Rome", "items": n} for n in range(count)]
        yield parcels, [f"{n} items for Rome" for n in range(count)]


def texts() -> Iterator[Case]:
    for count in range(11):
        given = [str(n) for n in range(count)]
        signatures = [hmac.digest(b"key", text.encode(), "sha256").hex()[:8] for text in given]
        yield given, [f"{text} ({sign})" for text, sign in zip(given, signatures, strict=True)]


def questions() -> Iterator[Case]:
    for rounds in range(1, 11):
        question = {"server": "http://model", "model": "m", "text": str(rounds)}
        yield question, f"{2 * rounds - 1} degrees in {'x' * (2 * rounds - 1)}"


def baskets() -> Iterator[Case]:
    for count in range(12):
        yield ["item"] * count, f"charged {4 * count * 1.2:.2f}"


HASH_SEEDS = (1, 2)
PAID = {"result": "paid 40.0", "answer": {"approved": True}}
CITIES = {"Berlin": 16, "Lisbon": 16, "Quito": 15, "Seoul": 15}
INVOICES = [5, 2000, 6], ["paid 5", "paid 2000", "paid 6"]
REMINDED = [f"reminder {n} to ada" for n in (1, 2, 3)]
RATES = {"EUR": 1, "USD": 2}

EXAMPLES = [
    Example("hello_world", "hello_world", [("World", "Hello, World")], 5),
    Example("ten_tasks", "ten_tasks", [(0, list(range(1, 11)))], 23),
    Example("progress", "count_words", [(["a b", "c"], 3)], 5),
    Example("three_workflows", "summarize", [(3, {"double": 6, "square": 9})], 9),
    Example("approval_pause", "approval_pause", [({"amount": 40}, PAID)], 12, [{"approved": True}]),
    Example("retry", "exchange_rates", [("u", RATES)], 16, setup=fail_four_times),
    Example("saga", "book_trip", [*trips()], 495),
    Example("approval", "pay_invoices", [INVOICES], 13),
    Example("fan_out", "count_book", [*books()], 396),
    Example("sub_workflows", "ship_order", [*orders()], 216),
    Example("nightly_report", "nightly_report", [(None, CITIES)], 13),
    Example("signed_request", "send_signed", [*texts()], 253, setup=set_key),
    Example("reminder", "remind", [("ada", REMINDED)], 15),
    Example("streaming_chat", "answer_question", [*questions()], 270, setup=answer),
    Example("code_change", "order", [*baskets()], 324, [None]),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
async def test_example_survives_a_crash_at_any_event(example: Example) -> None:
    module = load(example.source)
    flow: Workflow[Any, Any] = getattr(module, example.workflow)

    def setup(engine: Engine) -> None:
        example.setup(engine, module)

    cuts = 0
    for number, (given, output) in enumerate(example.cases, 1):
        # The last case has the longest log.
        seeds = HASH_SEEDS if number == len(example.cases) else ()
        with Engine() as engine:
            setup(engine)
            run = await engine.start(flow, given)
            for body in example.resumes:
                await run.resume(body)
            if run.state == "PAUSED":
                await run.approve()
            await engine.advance_until_settled(run, timedelta(days=100))
        assert (run.output["type"] if run.state == "FAILED" else run.output) == output
        report = await assert_survives_crashes(
            flow, given, resumes=example.resumes, setup=setup, hash_seeds=seeds
        )
        assert report.hash_seeds == len(seeds)
        cuts += report.cuts
    assert cuts == example.cuts
    count_cuts(cuts)


async def test_files_survive_crashes_and_their_table_is_not_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(3):
        with (tmp_path / f"{number}.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["city", "sales"])
            rows.writerows([["Rome", 1.5], [f"city {number}", 2]])
    workflow = load("files").sum_sales
    run = workflow.run(str(tmp_path))
    assert run.output == {"Rome": 4.5, "city 0": 2, "city 1": 2, "city 2": 2}
    table = next(event.value for event in run.events if event.name == "read_table" and event.value)
    assert "array" not in json.dumps(table)
    report = await assert_survives_crashes(workflow, str(tmp_path), hash_seeds=HASH_SEEDS)
    assert report.hash_seeds == len(HASH_SEEDS)
    count_cuts(report.cuts)


def test_rejected_payment_is_reported_and_the_others_are_made() -> None:
    workflow = load("approval").pay_invoices

    async def reject() -> Any:
        with Engine() as engine:
            run = await engine.start(workflow, [2000, 7])
            await run.reject("too much")
            return run.result()

    assert asyncio.run(reject()) == ["not paid 2000: too much", "paid 7"]


async def test_order_of_the_first_version_continues_without_the_new_step(engine: Engine) -> None:
    module = load("code_change")

    @workflow.with_options(name="order")
    async def first_version(ctx: ExecutionContext[list[str]]) -> str:
        amount = await module.price("item")
        await pause("confirm", output=amount)
        return str(await module.charge(amount))

    log = (await engine.start(first_version, ["item"])).events
    assert (await engine.continue_from(module.order, ["item"], log)).state == "PAUSED"
    resumed = engine.create_resumed(module.order, engine.executions[-1], None)
    await engine.run_until_settled(resumed)
    assert resumed.result() == "charged 4.00"


def test_upload_of_the_schedule_is_declared() -> None:
    schedule = load("nightly_report").nightly_report.schedule
    assert (schedule.cron_expression, schedule.timezone) == ("0 3 * * *", "Europe/Berlin")
