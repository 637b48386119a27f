"""Health report of the worker; the server assigns work only to healthy workers."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping

from windlass.worker import _system_info
from windlass.worker._executions import Executions
from windlass.worker._metrics_provider import ProvidedMetrics
from windlass.worker._runner import Runner
from windlass.worker._settings import Settings

# If user code blocks its event loop for longer than this, the loop cannot start more work.
UNHEALTHY_LAG_S = 5.0

# Routing policies of existing sources name metrics with this prefix.
PREFIX = "flux."


class Health:
    """Creates the bodies of pongs, and answers the health port."""

    def __init__(
        self,
        settings: Settings,
        runner: Runner,
        executions: Executions,
        provided: ProvidedMetrics | None = None,
    ) -> None:
        self._settings = settings
        self._runner = runner
        self._executions = executions
        self._provided = provided
        self._cpu = (time.monotonic(), sum(os.times()[:2]))
        self._cpu_percent = 0.0
        self._lag_s = 0.0
        self._heard_at: float | None = None
        self.is_draining = False

    def start_draining(self) -> None:
        """Reports the worker as unhealthy from now on, so that it gets no more work."""
        self.is_draining = True

    def record_frame(self) -> None:
        """Records that the server has sent something on the stream."""
        self._heard_at = time.monotonic()

    @property
    def unready_reason(self) -> str | None:
        """`stopping`, `disconnected` or `blocked`; None if the worker takes work."""
        if self.is_draining:
            return "stopping"
        heard_at = self._heard_at
        if heard_at is None or time.monotonic() - heard_at > self._settings.stream_idle_s:
            return "disconnected"
        return None if self._probe() < UNHEALTHY_LAG_S else "blocked"

    @property
    def ends_by_outcome(self) -> Mapping[str, int]:
        """Number of runs that ended since the start, by outcome."""
        return self._executions.statistics.ends_by_outcome

    def pong_body(self) -> bytes:
        """Returns the body of a pong: health and metrics."""
        healthy = not self.is_draining and self._probe() < UNHEALTHY_LAG_S
        self._executions.statistics.record_lag(self._lag_s)
        self._measure_cpu()
        metrics = dict(self._provided.values) if self._provided else {}
        metrics |= {PREFIX + name: value for name, value in self.built_in_metrics().items()}
        return json.dumps({"healthy": healthy, "metrics": metrics}).encode()

    def built_in_metrics(self) -> dict[str, float]:
        """Returns the metrics that every worker reports, without prefix."""
        running = len(self._executions)
        slots = self._settings.max_concurrent_executions
        metrics = {
            "running_executions": running,
            "loop_lag_seconds": round(self._lag_s, 4),
            "cpu_percent": self._cpu_percent,
            "memory_available_bytes": _system_info.memory()[1],
            "load_avg_1m": _system_info.load(),
            **self._executions.statistics.values(),
        }
        if slots:
            metrics["slots_free"] = max(0, slots - running)
        return metrics

    def _probe(self) -> float:
        """Returns the age of an unanswered probe of the loop that runs workflows."""
        unanswered_s = self._runner.probe()
        self._lag_s = max(unanswered_s, self._runner.lag_s)
        return unanswered_s

    def _measure_cpu(self) -> None:
        """Measures the CPU time since the last pong, in percent of one processor."""
        before, used_before = self._cpu
        self._cpu = now, used = time.monotonic(), sum(os.times()[:2])
        self._cpu_percent = round(100 * (used - used_before) / max(now - before, 1e-3), 1)
