"""What a worker is told at its start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Settings:
    """Names end in their unit."""

    name: str
    server_url: str
    bootstrap_token: str
    labels: Mapping[str, str] = field(default_factory=dict)
    max_concurrent_executions: int = 16
    drain_timeout_s: float = 60.0
    # Six default heartbeats: a stream that is silent for so long is dead, whatever TCP says.
    stream_idle_s: float = 60.0
    request_timeout_s: float = 30.0
    # How long the end of an execution is offered to a server that cannot take it.
    terminal_deadline_s: float = 300.0
