"""Measures hello-world executions of one worker: throughput, latency and CPU.

The server is the tests' fake server in this process; the worker is a process of its own. Usage:

    python bench/hello.py [--executions 2000] [--in-flight 1 8 32] [--children 2]
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from server_fake import BOOTSTRAP, TERMINAL, FakeServer, StoredExecution, serve  # noqa: E402

SOURCE = (HERE.parent.parent.parent / "examples" / "hello_world.py").read_text()


async def main() -> None:
    arguments = parse_arguments()
    async with serve(NotifyingServer()) as server:
        command = [sys.executable, "-m", "windlass.worker", "start", "--server-url", server.url]
        options = ["--name", "bench", "--bootstrap-token", BOOTSTRAP, "--max-concurrent", "64"]
        options += ["--children", str(arguments.children)]
        worker = subprocess.Popen(
            [*command, *options],
            stderr=None if arguments.verbose else subprocess.DEVNULL,
        )
        try:
            while not server.connected("bench"):
                await asyncio.sleep(0.05)
            await measure(server, worker.pid, 200, 8)
            print("in flight    per s   p50 ms   p99 ms  worker CPU-ms")
            for in_flight in arguments.in_flight:
                row = await measure(server, worker.pid, arguments.executions, in_flight)
                print("{:>9} {:>8.0f} {:>8.2f} {:>8.2f} {:>14.2f}".format(in_flight, *row))
            print(json.dumps({"requests_per_execution": server.requests_per_execution}))
        finally:
            worker.terminate()
            worker.wait(10)


class NotifyingServer(FakeServer):
    """Fake server that signals the end of an execution."""

    def __init__(self) -> None:
        super().__init__()
        self.settled: dict[str, asyncio.Event] = {}
        self.requests_per_execution = 0.0

    async def _checkpoint(self, request):  # type: ignore[no-untyped-def]
        response = await super()._checkpoint(request)
        stored = self.executions[request.match_info["id"]]
        if stored.state in TERMINAL:
            self.settled.pop(stored.execution_id).set()
        return response


async def measure(
    server: NotifyingServer, pid: int, executions: int, in_flight: int
) -> tuple[float, float, float, float]:
    """Returns executions per second, p50 and p99 in ms, and the worker's CPU-ms per execution."""
    latencies: list[float] = []
    remaining = executions
    workflow = {
        "id": "hello",
        "namespace": "default",
        "name": "hello_world",
        "version": 1,
        "source": base64.b64encode(SOURCE.encode()).decode(),
    }
    server.requests.clear()

    async def run_sequentially() -> None:
        nonlocal remaining
        while remaining > 0:
            remaining -= 1
            started_at = time.perf_counter()
            stored = StoredExecution(os.urandom(16).hex(), workflow, '"World"')
            server.executions[stored.execution_id] = stored
            settled = server.settled[stored.execution_id] = asyncio.Event()
            server.dispatch(stored)
            await settled.wait()
            assert stored.output == "Hello, World", stored.output
            del server.executions[stored.execution_id]
            latencies.append(time.perf_counter() - started_at)

    used_s, started_at = cpu_s(pid), time.perf_counter()
    await asyncio.gather(*(run_sequentially() for _ in range(in_flight)))
    elapsed_s = time.perf_counter() - started_at
    used_s = cpu_s(pid) - used_s
    server.requests_per_execution = len(server.requests) / executions
    quantiles = statistics.quantiles(latencies, n=100)
    return (
        executions / elapsed_s,
        quantiles[49] * 1e3,
        quantiles[98] * 1e3,
        used_s / executions * 1e3,
    )


def cpu_s(pid: int) -> float:
    """Returns the CPU seconds that a process and its descendants have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return own + sum(cpu_s(int(child)) for child in children)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--executions", type=int, default=2000)
    parser.add_argument("--in-flight", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--children", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


asyncio.run(main())
