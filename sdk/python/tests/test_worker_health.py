"""Metrics in pongs, the metrics provider, and the health port."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import aiohttp
import pytest

from conftest import HANG_S, Workers, next_pong, until
from server_fake import TERMINAL, FakeServer, StoredExecution
from sources import SOURCE
from windlass.worker._bootstrap import UsageError
from windlass.worker._metrics_provider import ProvidedMetrics, load_provider
from windlass.worker._statistics import RunEnd, Statistics

BUILT_IN = {
    "running_executions",
    "slots_free",
    "loop_lag_seconds",
    "loop_lag_p95_seconds",
    "failure_rate",
    "crash_rate",
    "executions_per_minute",
    "execution_duration_p95_seconds",
    "startup_overhead_seconds",
    "warm_modules",
    "cpu_percent",
    "memory_available_bytes",
    "load_avg_1m",
}


# Of the image of the worker.
HEALTH_CHECK = Path(__file__).parents[3] / "deploy/image/worker_health.py"


def is_terminal(stored: StoredExecution) -> bool:
    """Returns whether the execution has ended."""
    return stored.state in TERMINAL


async def get(url: str) -> tuple[int, str]:
    """Returns the status and the text of a response."""
    async with aiohttp.ClientSession() as http, http.get(url) as response:
        return response.status, await response.text()


async def is_listening(url: str) -> bool:
    """Returns whether a server accepts connections there."""
    try:
        await get(url)
    except aiohttp.ClientConnectionError:
        return False
    return True


async def check_health(port: int) -> int | None:
    """Runs the health check of the image for a worker on this machine; returns its exit code."""
    check = await asyncio.create_subprocess_exec(
        sys.executable,
        "-IS",
        str(HEALTH_CHECK),
        env={"SVC_WORKER__HEALTH_HOST": "0.0.0.0", "SVC_WORKER__HEALTH_PORT": str(port)},
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        return await asyncio.wait_for(check.wait(), HANG_S)
    finally:
        if check.returncode is None:
            check.kill()


async def test_runs_that_ended_pongs_carry_all_built_in_metrics(
    server: FakeServer, workers: Workers
) -> None:
    await workers.start()
    for name in ("hello", "fails"):
        stored = server.start(SOURCE.format(gate=""), name, "x")
        await until(partial(is_terminal, stored))
    async with asyncio.timeout(HANG_S):
        while (metrics := (await next_pong(server))["metrics"])["flux.executions_per_minute"] < 2:
            pass
    assert set(metrics) == {f"flux.{name}" for name in BUILT_IN}
    assert metrics["flux.failure_rate"] == 0.5
    assert metrics["flux.crash_rate"] == 0
    assert metrics["flux.warm_modules"] == 2
    assert metrics["flux.execution_duration_p95_seconds"] > 0
    assert metrics["flux.startup_overhead_seconds"] > 0


async def test_health_port_shows_probes_and_metrics_until_the_worker_stops(
    server: FakeServer, workers: Workers, unused_tcp_port: int
) -> None:
    await workers.start(health_port=unused_tcp_port)
    url = f"http://127.0.0.1:{unused_tcp_port}"
    # The stream is open before the port is.
    async with asyncio.timeout(HANG_S):
        while not await is_listening(url):
            await asyncio.sleep(0.02)
    assert await get(f"{url}/live") == (200, '{"status": "live"}')
    async with asyncio.timeout(HANG_S):
        while (await get(f"{url}/ready"))[0] != 200:
            await asyncio.sleep(0.02)
    assert await check_health(unused_tcp_port) == 0
    stored = server.start(SOURCE.format(gate=""), "hello", "x")
    await until(lambda: stored.state in TERMINAL)
    async with asyncio.timeout(HANG_S):
        while "executions_total{" not in (text := (await get(f"{url}/metrics"))[1]):
            await asyncio.sleep(0.02)
    assert 'windlass_worker_executions_total{outcome="completed"} 1' in text
    names = set(re.findall(r"^windlass_worker_(\w+) \S+$", text, re.MULTILINE))
    assert names == BUILT_IN
    assert (await get(f"{url}/nothing"))[0] == 404
    await workers.stop("w1")
    with pytest.raises(aiohttp.ClientConnectionError):
        await get(f"{url}/live")
    assert await check_health(unused_tcp_port) == 1


async def test_worker_that_drains_is_unhealthy_for_the_image(
    server: FakeServer, workers: Workers, unused_tcp_port: int, tmp_path: Path
) -> None:
    worker = await workers.start(health_port=unused_tcp_port)
    server.start(SOURCE.format(gate=str(tmp_path)), "gates", ["a"])
    await until((tmp_path / "ledger").exists)
    async with asyncio.timeout(HANG_S):
        while await check_health(unused_tcp_port) != 0:
            pass
    worker.stop()
    async with asyncio.timeout(HANG_S):
        while await check_health(unused_tcp_port) != 1:
            pass
    assert (await get(f"http://127.0.0.1:{unused_tcp_port}/live"))[0] == 200
    (tmp_path / "a").touch()


async def test_provider_its_metrics_are_in_pongs_but_none_with_the_reserved_prefix(
    server: FakeServer, workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_metrics.py").write_text(
        "def read():\n    return {'queue': 3, 'flux.cpu_percent': -1, 'endless': float('inf')}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    await workers.start(metrics_provider="own_metrics:read")
    async with asyncio.timeout(HANG_S):
        while "queue" not in (metrics := (await next_pong(server))["metrics"]):
            pass
    assert metrics["queue"] == 3
    assert metrics["flux.cpu_percent"] >= 0
    assert "endless" not in metrics


async def test_provider_that_fails_once_its_last_values_remain() -> None:
    results: list[Callable[[], dict[str, float]]] = [lambda: {"a": 1.0}, lambda: 1 / 0]  # type: ignore[list-item,return-value]

    def provide() -> dict[str, float]:
        return results.pop(0)()

    provided = ProvidedMetrics(provide, "flux.")
    await provided.refresh()
    assert provided.values == {"a": 1.0}
    await provided.refresh()
    assert provided.values == {"a": 1.0}


async def test_provider_with_more_than_32_metrics_the_rest_is_left_out() -> None:
    provided = ProvidedMetrics(lambda: {f"m{i}": float(i) for i in range(50)}, "flux.")
    await provided.refresh()
    assert list(provided.values) == [f"m{i}" for i in range(32)]


@pytest.mark.parametrize(
    "reference", ["absent_module:read", "json", "json:absent", "json:__doc__", ""]
)
def test_provider_that_cannot_be_loaded_is_named(reference: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"--metrics-provider {reference}")):
        load_provider(reference)


def test_statistics_rates_are_those_of_the_last_hundred_runs() -> None:
    statistics = Statistics()
    for _ in range(100):
        statistics.record_end(RunEnd("failed", 9.0, None))
    for i in range(100):
        outcome = "crashed" if i < 10 else "completed"
        statistics.record_end(RunEnd(outcome, i / 100, 0.25))
    values = statistics.values()
    assert values["failure_rate"] == 0
    assert values["crash_rate"] == 0.1
    assert values["execution_duration_p95_seconds"] == 0.95
    assert values["startup_overhead_seconds"] == 0.25
    assert values["executions_per_minute"] == 200
    assert statistics.ends_by_outcome == {"failed": 100, "crashed": 10, "completed": 90}
