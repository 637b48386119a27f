"""Export of spans by OTLP/HTTP: the extra `windlass[otel]`, loaded only if an endpoint is set."""

from __future__ import annotations

import logging
import os
import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

from windlass._trace import Attributes, SpanContext, SpanRecord, Trace, parse_traceparent
from windlass.worker._bootstrap import UsageError
from windlass.worker._settings import Settings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor

log = logging.getLogger("windlass.worker")

EXPORT_TIMEOUT_S = 5
EXPORT_INTERVAL_MS = 1000


class Tracing:
    """Spans of a worker, given to a processor of the SDK. Used by any thread."""

    def __init__(self, processor: SpanProcessor, worker_name: str) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope

        self._processor = processor
        self._scope = InstrumentationScope("windlass")
        self._resource = Resource(
            {
                "service.name": "windlass-worker",
                "service.instance.id": worker_name,
                "process.pid": os.getpid(),
            }
        )

    def begin_run(self, traceparent: str | None, name: str, attributes: Attributes) -> RunSpan:
        """Starts the span of one run; it records nothing if the execution is not traced."""
        return RunSpan(self, parse_traceparent(traceparent), name, attributes)

    def record(self, record: SpanRecord) -> None:
        """Exports a span that has ended."""
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.trace import SpanContext as ApiContext
        from opentelemetry.trace import SpanKind, Status, StatusCode, TraceFlags

        def context_of(span_id: str, *, is_remote: bool) -> ApiContext:
            flags = TraceFlags(TraceFlags.SAMPLED)
            trace_id = int(record.context.trace_id, 16)
            return ApiContext(trace_id, int(span_id, 16), is_remote, flags)

        is_run = "windlass.call_id" not in record.attributes
        attributes = dict(record.attributes)
        if record.error:
            attributes["error.type"] = record.error
        self._processor.on_end(
            ReadableSpan(
                name=record.name,
                context=context_of(record.context.span_id, is_remote=False),
                parent=context_of(record.parent_id, is_remote=is_run),
                resource=self._resource,
                attributes=attributes,
                kind=SpanKind.CONSUMER if is_run else SpanKind.INTERNAL,
                status=Status(StatusCode.ERROR if record.error else StatusCode.UNSET),
                start_time=record.started_ns,
                end_time=record.ended_ns,
                instrumentation_scope=self._scope,
            )
        )

    def stop(self) -> None:
        """Sends what is left; ends after some seconds if the receiver does not answer."""
        self._processor.shutdown()


@dataclass(slots=True)
class RunSpan:
    """Span of one run of an execution by this worker."""

    _tracing: Tracing
    _parent: SpanContext | None
    _name: str
    _attributes: Attributes
    trace: Trace | None = None
    _started_ns: int = field(default_factory=time.time_ns)
    _started: int = field(default_factory=time.monotonic_ns)

    def __post_init__(self) -> None:
        if self._parent is not None:
            self.trace = Trace(self._parent.child(), self._tracing.record)

    def end(self, outcome: str) -> None:
        """Ends the span with the outcome of the run: a state in lower case, or how it was lost."""
        if self._parent is None or self.trace is None:
            return
        self._tracing.record(
            SpanRecord(
                name=self._name,
                context=self.trace.context,
                parent_id=self._parent.span_id,
                started_ns=self._started_ns,
                ended_ns=self._started_ns + time.monotonic_ns() - self._started,
                attributes={**self._attributes, "windlass.outcome": outcome},
                error=outcome if outcome in {"failed", "crashed"} else None,
            )
        )


def require_packages(settings: Settings) -> None:
    """Raises UsageError if spans are to be exported and the packages are missing."""
    if settings.otlp_endpoint is not None and not _has_exporter():
        raise UsageError(
            "--otlp-endpoint needs the packages of windlass[otel]: pip install 'windlass[otel]'"
        )


def _has_exporter() -> bool:
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ImportError:
        return False


def start_tracing(settings: Settings) -> Tracing | None:
    """Starts to export spans if `--otlp-endpoint` is set."""
    if settings.otlp_endpoint is None:
        return None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    endpoint = f"{settings.otlp_endpoint.rstrip('/')}/v1/traces"
    exporter = OTLPSpanExporter(endpoint=endpoint, timeout=EXPORT_TIMEOUT_S)
    processor = BatchSpanProcessor(exporter, schedule_delay_millis=EXPORT_INTERVAL_MS)
    return Tracing(processor, settings.name)
