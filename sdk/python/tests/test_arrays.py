"""Arrays and data frames as arguments and, with a storage, as results. Skipped without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from windlass import ExecutionContext, task, workflow
from windlass._call_id import call_id
from windlass.output_storage import LocalFileStorage
from windlass.testing import Engine


def id_of(value: Any) -> str:
    return call_id("t", {"x": value}, [value], {})


def test_array_as_an_argument_identifies_its_call_by_content() -> None:
    np = pytest.importorskip("numpy")
    values = [
        np.array([1, 2]),
        np.array([1, 3]),
        np.array([[1], [2]]),
        np.array([1.0, 2.0]),
        np.array(["a", None], dtype=object),
        np.array(["b", None], dtype=object),
        np.int64(1),
        np.int64(2),
    ]
    ids = [id_of(value) for value in values]
    assert len(set(ids)) == len(values)
    assert [id_of(value.copy()) for value in values] == ids
    assert id_of([np.array([1, 2])]) != id_of([np.array([1, 3])])


def test_series_and_frame_of_polars_identify_their_call_by_content() -> None:
    pl = pytest.importorskip("polars")
    frames = [pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [2]}), pl.DataFrame({"a": [1.0]})]
    series = [pl.Series("a", [1]), pl.Series("a", [2]), pl.Series("b", [1])]
    ids = [id_of(value) for value in [*frames, *series]]
    assert len(set(ids)) == len(ids)
    assert id_of(pl.DataFrame({"a": [1]})) == ids[0]


def test_series_and_index_of_pandas_identify_their_call_by_content() -> None:
    pd = pytest.importorskip("pandas")
    values = [pd.Series([1]), pd.Series([2]), pd.Series([1], name="a"), pd.Series([1], index=[4])]
    values += [pd.Index([1]), pd.Index([2])]
    ids = [id_of(value) for value in values]
    assert len(set(ids)) == len(ids)
    assert [id_of(value.copy()) for value in values] == ids


async def test_array_passes_through_a_workflow(engine: Engine) -> None:
    np = pytest.importorskip("numpy")

    @task
    async def doubled(x: Any) -> Any:
        return x * 2

    @workflow
    async def main(ctx: ExecutionContext[None]) -> Any:
        return await doubled(np.array(await doubled(np.array([1, 2]))))

    run = await engine.start(main)
    assert run.result() == [4, 8]


async def test_frame_is_a_stored_result_and_a_cached_call_of_another_frame_runs(
    engine: Engine, tmp_path: Path
) -> None:
    pd = pytest.importorskip("pandas")
    storage = LocalFileStorage(str(tmp_path), serializer="pickle")
    summed = []

    @task.with_options(output_storage=storage)
    async def load(first: int) -> Any:
        return pd.DataFrame({"a": [first, 2], "b": ["x", None]}), pd.Series([first])

    @task.with_options(cache=True)
    async def total(frames: Any) -> int:
        summed.append(len(frames))
        return int(frames[0]["a"].sum() + frames[1].sum())

    @workflow
    async def main(ctx: ExecutionContext[None]) -> Any:
        one, other, same = await load(1), await load(5), await load(1)
        return [await total(one), await total(other), await total(same)]

    run = await engine.start(main)
    assert run.result() == [4, 12, 4]
    assert len(summed) == 2
