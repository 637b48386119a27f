"""Limits of LocalFileStorage: which files are deleted, and how their executions end."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from windlass import (
    ExecutionContext,
    LocalFileStorage,
    OutputStorageReference,
    pause,
    task,
    workflow,
)
from windlass._file_limits import _sweeps
from windlass._namespace import current_namespace
from windlass.testing import Engine


@pytest.fixture(autouse=True)
def _no_earlier_sweeps() -> Iterator[None]:
    _sweeps.clear()
    yield
    _sweeps.clear()


def age(path: Path, seconds: float) -> None:
    moment = time.time() - seconds
    os.utime(path, (moment, moment))


def has(storage: LocalFileStorage, reference: OutputStorageReference) -> bool:
    try:
        storage.retrieve(reference)
    except FileNotFoundError:
        return False
    return True


def delete_values(directory: Path) -> None:
    for file in directory.rglob("*"):
        if file.is_file() and not file.name.startswith("."):
            file.unlink()


def path_of(directory: Path, reference: OutputStorageReference) -> Path:
    return directory / str(reference.metadata["file"])


def test_value_that_was_not_used_for_longer_is_deleted_and_the_key_stays(tmp_path: Path) -> None:
    storage = LocalFileStorage(tmp_path, max_age=timedelta(seconds=60))
    token = current_namespace.set("team")
    old, read, other = (storage.store(name, {name}) for name in ("old", "read", "other"))
    for reference in (old, read):
        age(path_of(tmp_path, reference), 61)
    age(tmp_path / ".signing-key", 10_000)
    assert storage.retrieve(read) == {"read"}  # it is in use
    _sweeps.clear()
    new = storage.store("new", {"new"})
    assert [has(storage, value) for value in (old, read, other, new)] == [False, True, True, True]
    current_namespace.reset(token)
    assert (tmp_path / ".signing-key").exists()


def test_values_above_the_size_are_deleted_the_one_used_longest_ago_first(tmp_path: Path) -> None:
    storage = LocalFileStorage(tmp_path, "json", max_bytes=1000)
    values = []
    for number in range(8):
        values.append(storage.store(str(number), "x" * 198))
        for file in tmp_path.iterdir():
            age(file, time.time() - file.stat().st_mtime + 1)
        if number == 4:
            assert has(storage, values[0])
    assert [has(storage, value) for value in values] == [
        *[True, False, False, False],
        *[True, True, True, True],
    ]


def test_storage_without_limits_deletes_nothing(tmp_path: Path) -> None:
    storage = LocalFileStorage(tmp_path)
    old = storage.store("old", 1)
    age(path_of(tmp_path, old), 10**8)
    storage.store("new", 2)
    assert storage.retrieve(old) == 1


async def test_execution_whose_value_was_deleted_fails_saying_why(
    engine: Engine, tmp_path: Path
) -> None:
    @task.with_options(output_storage=LocalFileStorage(tmp_path))
    async def load() -> set[int]:
        return {1}

    @workflow
    async def sums(ctx: ExecutionContext[None]) -> int:
        numbers = await load()
        await pause("review")
        return sum(numbers)

    run = await engine.start(sums)
    delete_values(tmp_path)
    await run.resume()
    assert run.state == "FAILED"
    assert "is missing: max_age or max_bytes has deleted it" in str(run.output)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_age": "1 day"}, "max_age must be seconds or a timedelta"),
        ({"max_age": -1}, "max_age"),
        ({"max_bytes": "1 GB"}, "max_bytes"),
        ({"max_bytes": -1}, "max_bytes"),
    ],
)
def test_wrong_limit_is_refused(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        LocalFileStorage(tmp_path, **options)
