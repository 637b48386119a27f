"""Settings of a worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a worker. Durations are in seconds."""

    name: str
    server_url: str
    # Empty in the process that runs workflows, except with servers that need it for a renewal.
    bootstrap_token: str = ""
    # Read again when the session has ended.
    bootstrap_token_file: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    # 0 means no limit.
    max_concurrent_executions: int = 100
    # An execution that only waits, and for longer than this, is parked; None: none is.
    park_after_s: float | None = 5.0
    # Ends within the 30 seconds that Kubernetes grants by default.
    drain_timeout_s: float = 25.0
    # Six heartbeats of the default interval.
    stream_idle_s: float = 60.0
    request_timeout_s: float = 30.0
    # Limit for delivering the settled state of an execution to an unavailable server.
    terminal_deadline_s: float = 300.0
    # Processes that run workflows; 0: a thread of the worker.
    children: int = 0
    # Of each of them, or of the worker, for tasks with the option `process`.
    task_processes: int = 1
    # 0: no limit.
    max_executions_per_child: int = 0
    max_child_memory_bytes: int = 0
    # Names or patterns of variables that workflows may read, besides those of the system.
    pass_env: Sequence[str] = ()
    # Folders for imports of workflows, and modules that are imported before children start.
    path: Sequence[str] = ()
    preload: Sequence[str] = ()
    # Functions `module:name` around what workflows run; the first is outermost.
    interceptors: Sequence[str] = ()
    log_level: str = "info"
    # `text` or `json`.
    log_format: str = "text"
    # Sends what workflows write to the server, which stores it with their execution.
    capture_logs: bool = True
    # Files (PEM): authority of the server's certificate, and a client certificate with its key.
    ca_file: str | None = None
    client_cert: str | None = None
    client_key: str | None = None
    proxy: str | None = None
    # Listener for probes and Prometheus; no port: none.
    health_host: str = "127.0.0.1"
    health_port: int | None = None
    # Base URL of an OTLP/HTTP receiver for spans; None: none are exported.
    otlp_endpoint: str | None = None
    # Function `module:name` that creates the codec of payloads.
    codec: str | None = None
    # Runs only this execution, then ends.
    once: str | None = None
    # File whose text must be that of the uploaded source, and whose name debuggers see.
    source: str | None = None
    # Function `module:name` whose metrics pongs carry.
    metrics_provider: str | None = None
