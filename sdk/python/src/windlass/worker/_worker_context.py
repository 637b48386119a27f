"""Context that all executions of a worker share."""

from __future__ import annotations

from dataclasses import dataclass, field

from windlass._payloads import Payloads
from windlass.worker._api import Api
from windlass.worker._runner import Runner
from windlass.worker._settings import Settings
from windlass.worker._tracing import Tracing


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """Server interface, settings and runner of a worker."""

    api: Api
    settings: Settings
    runner: Runner
    # None: spans are not exported.
    tracing: Tracing | None = None
    payloads: Payloads = field(default_factory=lambda: Payloads(None))
