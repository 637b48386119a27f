"""The worker with uvloop, which is installed in the environment of these tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import uvloop

from windlass.worker._cli import find_fast_loop

BENCH = Path(__file__).parent.parent / "bench" / "hello.py"
HANG_S = 60.0


@pytest.mark.parametrize("children", ["0", "2"])
def test_worker_with_uvloop_runs_executions(children: str) -> None:
    assert find_fast_loop() is uvloop.new_event_loop
    arguments = ["--executions", "20", "--in-flight", "8", "--children", children]
    # Fails unless the output of each execution is the expected one.
    subprocess.run([sys.executable, BENCH, *arguments, "--verbose"], check=True, timeout=HANG_S)
