"""Closed loops on command: a JSON line on standard input each, its result on standard output."""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable

Work = Callable[[], Awaitable[object]]


async def serve_loads(works: dict[str, Work]) -> None:
    """Runs each load `{work, inFlight, seconds}`; answers `{count, seconds, latencies}`, in ms."""
    print(json.dumps({"ready": True}), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        order = json.loads(line)
        result = await closed_loop(works[order["work"]], order["inFlight"], order["seconds"])
        print(json.dumps(result), flush=True)


async def closed_loop(work: Work, in_flight: int, seconds: float) -> dict[str, object]:
    latencies: list[float] = []
    begun = time.perf_counter()

    async def one() -> None:
        while time.perf_counter() < begun + seconds:
            start = time.perf_counter()
            await work()
            latencies.append((time.perf_counter() - start) * 1_000)

    await asyncio.gather(*(one() for _ in range(in_flight)))
    taken = time.perf_counter() - begun
    return {"count": len(latencies), "seconds": taken, "latencies": latencies}
