"""Worker as a process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence

# Limit for a hanging test; no test asserts speed. Encoding 100 MB takes 0.2 s of processor time;
# it took 24 s on a machine with a load of 46.
HANG_S = 120.0


class WorkerProcess:
    """Process of `python -m windlass.worker start`, with its stderr."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.text = ""
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.process.stderr is not None
        while line := await self.process.stderr.readline():
            self.text += line.decode()

    async def ended(self) -> int:
        async with asyncio.timeout(HANG_S):
            await self._reading
            return await self.process.wait()


Start = Callable[..., Awaitable[WorkerProcess]]


async def start_worker(
    processes: list[asyncio.subprocess.Process],
    *arguments: str,
    pass_fds: Sequence[int] = (),
    **environment: str,
) -> WorkerProcess:
    """Starts a worker process and adds it to `processes`."""
    process = await asyncio.create_subprocess_exec(
        *[sys.executable, "-m", "windlass.worker", "start", *arguments],
        stderr=asyncio.subprocess.PIPE,
        pass_fds=pass_fds,
        env={**os.environ, **environment},
    )
    processes.append(process)
    return WorkerProcess(process)
