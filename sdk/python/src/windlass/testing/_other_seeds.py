"""Replays of one log in processes with other hash seeds.

The order of a set of texts differs between processes, so a workflow that iterates over one makes
its calls in another order on another worker. A process cannot change its own seed: the workflow is
imported in new ones, from the file that defines it.

Nothing new runs there: a call without a recorded outcome waits. Substitutes that a test puts in
place of functions exist only in the process of the test, so tasks must not run elsewhere.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from windlass.domain.events import ExecutionEvent
from windlass.workflow import Workflow

# Limit for a hanging process; a log of a thousand events takes some seconds.
TIMEOUT_S = 300.0

# Of what a failed process has written, in characters.
MAX_SHOWN = 4096

# Set in the environment of these processes. A script that checks its workflow whenever it is
# imported would start processes without end.
MARK = "WINDLASS_IMPORTED_FOR_CRASH_TEST"

_FAILED = (
    "the workflow cannot be replayed in a process with another hash seed "
    "(hash_seeds=() leaves this out)"
)


class OtherSeeds:
    """Processes that replay every beginning of a log, one for each hash seed."""

    def __init__(
        self,
        workflow: Workflow[Any, Any],
        input: Any,
        events: Sequence[ExecutionEvent],
        created: Collection[str],
        seeds: Sequence[int],
    ) -> None:
        """`created` are the ids of the calls that the uninterrupted execution has made."""
        self._tasks: list[asyncio.Task[dict[str, Any]]] = []
        if importing := os.environ.get(MARK):
            raise RuntimeError(
                f"{importing} runs a crash test while it is imported; "
                'put the call under `if __name__ == "__main__":`'
            )
        place = _find_place(workflow)
        if place is None:
            return
        request = json.dumps(
            place
            | {
                "sys_path": sys.path,
                "input": input,
                "events": [asdict(event) for event in events],
                "created": sorted(created),
            }
        )
        self._tasks = [
            asyncio.create_task(asyncio.to_thread(_replay, seed, request, place["file"]))
            for seed in seeds
        ]

    @property
    def count(self) -> int:
        """Number of processes; 0 if they could not find the workflow."""
        return len(self._tasks)

    async def find_difference(self) -> tuple[int, str] | None:
        """Returns the first cut, and the message, of a replay that differs. Waits for the end."""
        answers = await asyncio.gather(*self._tasks)
        different = [(answer["cut"], answer["message"]) for answer in answers if answer]
        return min(different, default=None)

    async def cancel(self) -> None:
        """Waits for the processes and ignores what they found."""
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _find_place(workflow: Workflow[Any, Any]) -> dict[str, str] | None:
    """Returns file, module and name; None if a new process cannot find the workflow there."""
    func = workflow.func
    file = getattr(func, "__globals__", {}).get("__file__")
    name = str(getattr(func, "__qualname__", ""))
    if not isinstance(file, str) or "<locals>" in name or not Path(file).is_file():
        return None
    return {"file": str(Path(file).absolute()), "module": func.__module__, "name": name}


def _replay(seed: int, request: str, file: str) -> dict[str, Any]:
    environment: Mapping[str, str] = {**os.environ, "PYTHONHASHSEED": str(seed), MARK: file}
    command = [sys.executable, "-m", "windlass.testing._replay_cuts"]
    try:
        process = subprocess.run(
            command,
            input=request.encode(),
            capture_output=True,
            env=environment,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise AssertionError(f"{_FAILED}: it has not ended after {TIMEOUT_S} s") from None
    if process.returncode != 0:
        reason = process.stderr.decode(errors="replace")[-MAX_SHOWN:]
        raise AssertionError(f"{_FAILED}:\n{reason}")
    answer: dict[str, Any] = json.loads(process.stdout)
    if answer:
        answer["message"] += f" (PYTHONHASHSEED={seed})"
    return answer
