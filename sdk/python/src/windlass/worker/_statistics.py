"""Statistics of the executions that a worker has run, for pongs and for its health port."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass

# Rates and percentiles are those of that many last values.
WINDOW = 100
MINUTE_S = 60.0
MAX_WARM_MODULES = 64
# Ends within the last minute that are counted; a worker with more of them shows this number.
MAX_RECENT_ENDS = 10_000


@dataclass(frozen=True, slots=True)
class RunEnd:
    """End of one run. `outcome` is a state in lower case, `crashed` or `released`."""

    outcome: str
    duration_s: float
    # From the start of the run to its first event; None: it recorded none.
    startup_s: float | None


class Statistics:
    """Collects ends of runs. All methods run in the worker's thread."""

    def __init__(self) -> None:
        self.ends_by_outcome: Counter[str] = Counter()
        self._ends: deque[RunEnd] = deque(maxlen=WINDOW)
        self._ended_at: deque[float] = deque(maxlen=MAX_RECENT_ENDS)
        self._lags_s: deque[float] = deque(maxlen=WINDOW)
        self._sources: OrderedDict[tuple[str, int], None] = OrderedDict()

    def record_start(self, source: tuple[str, int]) -> None:
        """Records a run of a version of a source, which is loaded from then on."""
        self._sources[source] = None
        self._sources.move_to_end(source)
        if len(self._sources) > MAX_WARM_MODULES:
            self._sources.popitem(last=False)

    def record_end(self, end: RunEnd) -> None:
        """Records the end of a run."""
        self.ends_by_outcome[end.outcome] += 1
        self._ends.append(end)
        self._ended_at.append(time.monotonic())

    def record_lag(self, lag_s: float) -> None:
        """Records a measured delay of the loop that runs workflows."""
        self._lags_s.append(lag_s)

    def values(self) -> dict[str, float]:
        """Returns the statistics by the names that pongs use."""
        minute_ago = time.monotonic() - MINUTE_S
        outcomes = Counter(end.outcome for end in self._ends)
        count = max(1, len(self._ends))
        return {
            "executions_per_minute": sum(at > minute_ago for at in self._ended_at),
            "failure_rate": round(outcomes["failed"] / count, 4),
            "crash_rate": round(outcomes["crashed"] / count, 4),
            "execution_duration_p95_seconds": percentile(end.duration_s for end in self._ends),
            "startup_overhead_seconds": percentile(
                (end.startup_s for end in self._ends if end.startup_s is not None), 0.5
            ),
            "loop_lag_p95_seconds": percentile(self._lags_s),
            "warm_modules": len(self._sources),
        }


def percentile(values: Iterable[float], share: float = 0.95) -> float:
    """Returns the smallest value that is not below this share of all; 0 for none."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 4)
