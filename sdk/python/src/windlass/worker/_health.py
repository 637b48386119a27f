"""Health report of the worker; the server assigns work only to healthy workers."""

from __future__ import annotations

import json
import os
import time

from windlass.worker import _system_info
from windlass.worker._executions import Executions
from windlass.worker._runner import Runner
from windlass.worker._settings import Settings

# If user code blocks its event loop for longer than this, the loop cannot start more work.
UNHEALTHY_LAG_S = 5.0

# Routing policies of existing sources name metrics with this prefix.
PREFIX = "flux."


class Health:
    """Creates the bodies of pongs."""

    def __init__(self, settings: Settings, runner: Runner, executions: Executions) -> None:
        self._settings = settings
        self._runner = runner
        self._executions = executions
        self._cpu = (time.monotonic(), sum(os.times()[:2]))
        self.is_draining = False

    def start_draining(self) -> None:
        """Reports the worker as unhealthy from now on, so that it gets no more work."""
        self.is_draining = True

    def pong_body(self) -> bytes:
        """Returns the body of a pong: health and metrics."""
        unanswered_s = self._runner.probe()
        healthy = not self.is_draining and unanswered_s < UNHEALTHY_LAG_S
        lag_s = max(unanswered_s, self._runner.lag_s)
        metrics = {PREFIX + name: value for name, value in self._metrics(lag_s).items()}
        return json.dumps({"healthy": healthy, "metrics": metrics}).encode()

    def _metrics(self, lag_s: float) -> dict[str, float]:
        running = len(self._executions)
        slots = self._settings.max_concurrent_executions
        metrics = {
            "running_executions": running,
            "loop_lag_seconds": round(lag_s, 4),
            "cpu_percent": self._cpu_percent(),
            "memory_available_bytes": _system_info.memory()[1],
            "load_avg_1m": _system_info.load(),
        }
        if slots:
            metrics["slots_free"] = max(0, slots - running)
        return metrics

    def _cpu_percent(self) -> float:
        """Returns the CPU time since the last call, in percent of one processor."""
        before, used_before = self._cpu
        self._cpu = now, used = time.monotonic(), sum(os.times()[:2])
        return round(100 * (used - used_before) / max(now - before, 1e-3), 1)
