"""Serializations of large payloads, counted: each takes milliseconds of the event loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from run_fixture import run_from, value
from windlass import ExecutionContext, _json, _task_execution, task, workflow
from windlass._entry import create_entry
from windlass.domain.state import ExecutionState

LARGE = 100_000

Row = dict[str, str | int | list[str]]
ROWS: list[Row] = [{"id": n, "name": "Ada Lovelace", "tags": ["a", "b"]} for n in range(5000)]


@task
async def count(rows: list[Row]) -> int:
    return len(rows)


@task
async def produce() -> list[Row]:
    return ROWS


@workflow
async def pass_rows(ctx: ExecutionContext[None]) -> int:
    return await count(ROWS)


@workflow
async def return_rows(ctx: ExecutionContext[None]) -> int:
    return len(await produce())


@dataclass
class Counts:
    """Serializations and parsings of large texts."""

    encoded: int = 0
    fast_encoded: int = 0
    parsed: int = 0


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    counted = Counts()
    encode, encode_plain, loads = _json.Encoder.encode, msgspec.json.encode, _json.loads

    def counting_encode(self: _json.Encoder, item: Any) -> str:
        text = encode(self, item)
        counted.encoded += len(text) > LARGE
        return text

    def counting_encode_plain(item: Any) -> bytes:
        text = encode_plain(item)
        counted.fast_encoded += len(text) > LARGE
        return text

    def counting_loads(text: str) -> Any:
        counted.parsed += len(text) > LARGE
        return loads(text)

    monkeypatch.setattr(_json.Encoder, "encode", counting_encode)
    monkeypatch.setattr(msgspec.json, "encode", counting_encode_plain)
    monkeypatch.setattr(_task_execution, "loads", counting_loads)
    return counted


async def test_large_plain_arguments_are_serialized_once(counts: Counts) -> None:
    journal = await run_from(pass_rows)
    started = next(event for event in journal.events if event.type == "TASK_STARTED")
    assert journal.state == "COMPLETED"
    assert started.value.keys() == {"size", "sha256"}
    assert counts == Counts(fast_encoded=1)


async def test_large_result_is_serialized_and_parsed_once(counts: Counts) -> None:
    journal = await run_from(return_rows)
    counted = Counts(counts.encoded, counts.fast_encoded, counts.parsed)
    completed = next(event for event in journal.events if event.type == "TASK_COMPLETED")
    assert value(completed) == ROWS
    assert counted == Counts(encoded=1, parsed=1)


def test_equal_large_values_of_two_calls_have_two_event_ids() -> None:
    first, second = (
        create_entry("TASK_COMPLETED", call, "count", ROWS, ExecutionState.RUNNING)
        for call in ("count_1", "count_2")
    )
    assert first.event.id != second.event.id


@pytest.mark.parametrize(
    ("odd", "state"),
    [("\udc00", "COMPLETED"), (10**30, "COMPLETED"), (float("nan"), "FAILED")],
    ids=["surrogate", "integer", "nan"],
)
async def test_large_arguments_with_an_unusual_value_end_as_small_ones(
    odd: Any, state: str
) -> None:
    @task
    async def take(rows: object) -> int:
        return 1

    @workflow
    async def pass_odd(ctx: ExecutionContext[bool]) -> int:
        return await take([*(ROWS if ctx.input else []), odd])

    assert (await run_from(pass_odd, input=True)).state == state
    assert (await run_from(pass_odd, input=False)).state == state
