"""Results outside of the log: who reads them, and how long they stay."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from run_fixture import EXECUTION_ID, FakeServices, RecordingJournal
from windlass import ExecutionContext, ExecutionEvent, task, workflow
from windlass._cache import CacheKey, CacheLimits, ResultCache
from windlass._children import track_children
from windlass._code_hash import code_hash
from windlass._file_limits import _sweeps
from windlass._lifecycle import advance_execution
from windlass._run import Run
from windlass.output_storage import LocalFileStorage, OutputStorageReference
from windlass.workflow import Workflow

attempts: list[str] = []


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts.clear()
    _sweeps.clear()
    monkeypatch.chdir(tmp_path)


async def output_of(
    one: Workflow[Any, Any],
    namespace: str = "default",
    version: str = "v1",
    events: list[ExecutionEvent] | None = None,
) -> Any:
    """Runs a workflow as a version of a namespace; returns its output or failure."""
    asyncio.get_running_loop().set_task_factory(track_children)
    context: ExecutionContext[Any] = ExecutionContext(
        execution_id=EXECUTION_ID,
        workflow_id=version,
        workflow_namespace=namespace,
        workflow_name=one.name,
        input=None,
        events=events or [],
    )
    journal = RecordingJournal()
    await advance_execution(Run(context, journal, FakeServices()), lambda: one.perform(context))
    return journal.events[-1].value


def tenant(secret: str) -> Workflow[Any, Any]:
    """Returns a workflow whose cached task has the same name and arguments for every tenant."""

    @task.with_options(cache=True)
    async def fetch(customer: int) -> str:
        attempts.append(secret)
        return secret

    @workflow
    async def report(ctx: ExecutionContext[Any]) -> str:
        return await fetch(1)

    return report


async def test_task_of_another_namespace_or_version_gets_no_cached_result() -> None:
    assert await output_of(tenant("ours"), "victim") == "ours"
    assert await output_of(tenant("theirs"), "attacker") == "theirs"
    assert await output_of(tenant("newer"), "victim", version="v2") == "newer"
    assert await output_of(tenant("unused"), "victim") == "ours"
    assert attempts == ["ours", "theirs", "newer"]


async def test_task_with_other_code_gets_no_cached_result() -> None:
    @task.with_options(cache=True)
    async def compute(n: int = 1) -> int:
        return n + 1

    first = compute

    @task.with_options(cache=True)  # type: ignore[no-redef]
    async def compute(n: int = 1) -> int:
        return n + 2

    second = compute

    def calling(one: Any) -> Workflow[Any, Any]:
        @workflow
        async def calls(ctx: ExecutionContext[Any]) -> int:
            return await one(1)  # type: ignore[no-any-return]

        return calls

    assert [await output_of(calling(one)) for one in (first, second)] == [2, 3]


def test_code_hash_is_the_same_for_the_same_source() -> None:
    source = "def f(a={'x': 1}):\n    return [n for n in {'b', 'a'} if n in {'c', 'd'}], a"

    def compiled() -> Any:
        space: dict[str, Any] = {}
        exec(source, space)
        return space["f"]

    assert code_hash(compiled()) == code_hash(compiled())
    assert code_hash(compiled()) != code_hash(lambda a: a)


def modes(directory: Path) -> set[tuple[bool, int]]:
    return {
        (path.is_dir(), stat.S_IMODE(path.stat().st_mode))
        for path in [directory, *directory.rglob("*")]
    }


async def test_stored_results_are_readable_by_the_user_of_the_worker_only() -> None:
    stored = LocalFileStorage()

    @task.with_options(cache=True, output_storage=stored)
    async def fetch() -> str:
        return "canary"

    @workflow.with_options(output_storage=stored)
    async def report(ctx: ExecutionContext[Any]) -> str:
        return await fetch()

    cache = Path(".windlass/cache")
    cache.mkdir(parents=True, mode=0o755)  # noqa: ASYNC240
    umask = os.umask(0)
    try:
        await output_of(report)
    finally:
        os.umask(umask)
    for directory in (cache, Path(".windlass/outputs")):
        assert modes(directory) == {(True, 0o700), (False, 0o600)}


async def test_reference_to_a_result_of_another_namespace_is_refused() -> None:
    storage = LocalFileStorage()

    @workflow.with_options(output_storage=storage)
    async def victim(ctx: ExecutionContext[Any]) -> str:
        return "canary"

    reference = await output_of(victim, "victim")
    assert storage_of(storage, reference) == "refused"

    @task.with_options(output_storage=storage)
    async def forge() -> Any:
        return storage_of(storage, reference)

    @workflow
    async def attacker(ctx: ExecutionContext[Any]) -> Any:
        return await forge()

    @workflow
    async def reader(ctx: ExecutionContext[Any]) -> Any:
        return storage_of(storage, reference)

    assert await output_of(reader, "attacker") == "refused"
    assert await output_of(reader, "victim") == "canary"


def storage_of(storage: LocalFileStorage, reference: dict[str, Any]) -> Any:
    try:
        return storage.retrieve(OutputStorageReference(**reference))
    except ValueError:
        return "refused"


def test_result_of_an_earlier_release_stays_readable(tmp_path: Path) -> None:
    name = "a" * 32
    (tmp_path / name).write_text('"old"')
    reference = OutputStorageReference("local_file", "r", {"serializer": "json", "file": name})
    assert LocalFileStorage(tmp_path).retrieve(reference) == "old"


@pytest.mark.parametrize("name", ["../x", "ns-a/../ns-b/" + "a" * 32, "/" + "a" * 32, "ns-a/"])
def test_reference_to_a_path_is_refused(tmp_path: Path, name: str) -> None:
    reference = OutputStorageReference("local_file", "r", {"serializer": "json", "file": name})
    with pytest.raises(ValueError, match="names no file"):
        LocalFileStorage(tmp_path).retrieve(reference)


def key(n: int, namespace: str = "a") -> CacheKey:
    return CacheKey(namespace, "w", "v", "t", "c", str(n))


def now() -> datetime:
    return datetime.now(UTC)


def test_expired_result_is_not_returned_and_is_deleted(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path / "cache", CacheLimits(max_age_s=60))
    cache.store(key(1), "old", now())
    old = time.time() - 61
    for path in tmp_path.rglob("*.json"):
        os.utime(path, (old, old))
    assert cache.find(key(1), now(), None) is None
    _sweeps.clear()
    cache.store(key(2, "b"), "new", now())
    assert [json.loads(path.read_text()) for path in tmp_path.rglob("*.json")] == ["new"]


def test_cache_above_its_size_deletes_the_oldest_results(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path / "cache", CacheLimits(max_bytes=1000, max_entry_bytes=400))
    for n in range(10):
        cache.store(key(n, f"ns{n % 3}"), "x" * 198, now())
        for path in tmp_path.rglob("*.json"):
            moment = path.stat().st_mtime - 1
            os.utime(path, (moment, moment))
    kept = [n for n in range(10) if cache.find(key(n, f"ns{n % 3}"), now(), None) is not None]
    assert kept == [5, 6, 7, 8, 9]
    cache.store(key(11), "x" * 500, now())
    assert cache.find(key(11), now(), None) is None
