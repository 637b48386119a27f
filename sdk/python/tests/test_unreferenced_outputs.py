"""Stored values that no event refers to are deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from windlass import ExecutionContext, LocalFileStorage, task, workflow
from windlass.errors import ValueMismatchError
from windlass.output_storage import OutputStorage, OutputStorageReference


class MemoryStorage(OutputStorage):
    """Storage in memory whose `delete` fails in some way, or works."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.values: dict[str, Any] = {}
        self._failure = failure

    def store(self, reference_id: str, value: Any) -> OutputStorageReference:
        name = str(len(self.values))
        self.values[name] = value
        metadata = {"name": name, "serializer": "json"}
        return OutputStorageReference("memory", reference_id, metadata)

    def retrieve(self, reference: OutputStorageReference) -> Any:
        return self.values[reference.metadata["name"]]

    def delete(self, reference: OutputStorageReference) -> None:
        if self._failure is not None:
            raise self._failure
        del self.values[reference.metadata["name"]]


def stores(storage: OutputStorage) -> Any:
    @task.with_options(output_storage=storage, retry_max_attempts=1, retry_delay=0)
    async def measure(value: Any) -> int:
        return value  # type: ignore[no-any-return]

    @workflow
    async def measures(ctx: ExecutionContext[Any]) -> int:
        measured: int = await measure(ctx.input)
        return measured

    return measures


def test_result_that_does_not_fit_is_deleted_and_one_that_fits_stays() -> None:
    storage = MemoryStorage()
    with pytest.raises(ValueMismatchError):
        stores(storage).run("many").result()
    assert storage.values == {}
    assert stores(storage).run(3).result() == 3
    assert list(storage.values.values()) == [3]


def test_file_of_a_result_that_does_not_fit_is_deleted(tmp_path: Path) -> None:
    storage = LocalFileStorage(tmp_path, serializer="json")
    with pytest.raises(ValueMismatchError):
        stores(storage).run("many").result()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("failure", [NotImplementedError(), OSError("disk")])
def test_failure_to_delete_does_not_hide_the_failure_of_the_task(failure: Exception) -> None:
    with pytest.raises(ValueMismatchError):
        stores(MemoryStorage(failure)).run("many").result()
