"""How the worker is, for the server to decide whether it gets more to do."""

from __future__ import annotations

import json
import os
import time

from windlass.worker import _system_info
from windlass.worker._executions import Executions
from windlass.worker._settings import Settings
from windlass.worker._user_loop import UserLoop

# A loop that user code has held for so long cannot start anything new.
UNHEALTHY_LAG_S = 5.0

# Routing policies of existing sources name metrics with this prefix.
PREFIX = "flux."


class Health:
    """Writes the answers to pings."""

    def __init__(self, settings: Settings, user_loop: UserLoop, executions: Executions) -> None:
        self._settings = settings
        self._user_loop = user_loop
        self._executions = executions
        self._cpu = (time.monotonic(), sum(os.times()[:2]))
        self.is_draining = False

    def start_draining(self) -> None:
        """Reports the worker as unhealthy from now on: it takes no more work."""
        self.is_draining = True

    def pong_body(self) -> bytes:
        """The body of a pong."""
        stuck_s = self._user_loop.probe()
        healthy = not self.is_draining and stuck_s < UNHEALTHY_LAG_S
        lag_s = max(stuck_s, self._user_loop.lag_s)
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
        """Processor time of this process since the last time, in percent of one processor."""
        before, used_before = self._cpu
        self._cpu = now, used = time.monotonic(), sum(os.times()[:2])
        return round(100 * (used - used_before) / max(now - before, 1e-3), 1)
