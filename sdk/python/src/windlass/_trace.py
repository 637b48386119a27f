"""Trace context of a run and the spans of its tasks, as plain data that the worker exports."""

from __future__ import annotations

import asyncio
import re
import secrets
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

TRACEPARENT_HEADER = "traceparent"

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")
_SAMPLED = 1

Attributes = Mapping[str, str | int | bool]

# W3C `traceparent` of the running code: of its task's span, else of the run's.
current_traceparent: ContextVar[str | None] = ContextVar("windlass_traceparent", default=None)


@dataclass(frozen=True, slots=True)
class SpanContext:
    """Identity of a span, in hex digits."""

    trace_id: str
    span_id: str

    @property
    def traceparent(self) -> str:
        """The identity in the form of W3C Trace Context."""
        return f"00-{self.trace_id}-{self.span_id}-01"

    def child(self) -> SpanContext:
        """Returns the identity of a new span in the same trace."""
        return SpanContext(self.trace_id, secrets.token_hex(8))


def parse_traceparent(text: object) -> SpanContext | None:
    """Returns the context if it is well-formed and sampled."""
    found = _TRACEPARENT.fullmatch(text) if isinstance(text, str) else None
    if found is None or not int(found[3], 16) & _SAMPLED:
        return None
    is_empty = not int(found[1], 16) or not int(found[2], 16)
    return None if is_empty else SpanContext(found[1], found[2])


@dataclass(frozen=True, slots=True)
class SpanRecord:
    """Span that has ended. `error` is the type of the exception that ended it."""

    name: str
    context: SpanContext
    parent_id: str
    started_ns: int
    ended_ns: int
    attributes: Attributes
    error: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """Returns the members of the frame that a child sends."""
        return {
            "name": self.name,
            "span_id": self.context.span_id,
            "parent_id": self.parent_id,
            "started_ns": self.started_ns,
            "ended_ns": self.ended_ns,
            "attributes": dict(self.attributes),
            "error": self.error,
        }

    @staticmethod
    def from_wire(trace_id: str, members: Mapping[str, Any]) -> SpanRecord:
        """Creates the span from a frame, in the trace of its run. Raises ValueError."""
        ids = f"00-{trace_id}-{members['span_id']}-01", f"00-{trace_id}-{members['parent_id']}-01"
        context, parent = map(parse_traceparent, ids)
        if context is None or parent is None:
            raise ValueError("malformed span id")
        attributes = {
            str(name): value
            for name, value in members["attributes"].items()
            if isinstance(value, str | int)
        }
        return SpanRecord(
            name=str(members["name"]),
            context=context,
            parent_id=parent.span_id,
            started_ns=int(members["started_ns"]),
            ended_ns=int(members["ended_ns"]),
            attributes=attributes,
            error=str(members["error"]) if members["error"] else None,
        )


class Trace:
    """Trace of one run: the context of its span, and the function that receives ended spans."""

    def __init__(self, context: SpanContext, record: Callable[[SpanRecord], None]) -> None:
        self.context = context
        self.record = record

    @contextmanager
    def span(self, name: str, attributes: Attributes) -> Generator[None, None, None]:
        """Records a span for the enclosed code, below that of the calling code.

        If the process has imported the API of OpenTelemetry, the span is its current one.
        """
        parent = parse_traceparent(current_traceparent.get()) or self.context
        context = parent.child()
        started_ns, started = time.time_ns(), time.monotonic_ns()
        token = current_traceparent.set(context.traceparent)
        detach = _attach_to_api(context)
        error: str | None = None
        more: dict[str, str | int | bool] = {}
        try:
            yield
        except asyncio.CancelledError:
            # A pause, a cancellation or a lost claim: not a failure of the task.
            more["windlass.interrupted"] = True
            raise
        except BaseException as raised:
            # The message may repeat payloads.
            error = type(raised).__name__
            raise
        finally:
            detach()
            current_traceparent.reset(token)
            ended_ns = started_ns + time.monotonic_ns() - started
            record = SpanRecord(
                name, context, parent.span_id, started_ns, ended_ns, {**attributes, **more}, error
            )
            self.record(record)


def _attach_to_api(context: SpanContext) -> Callable[[], None]:
    if "opentelemetry.trace" not in sys.modules:
        return _do_nothing
    from opentelemetry import context as api
    from opentelemetry import trace

    span_context = trace.SpanContext(
        int(context.trace_id, 16),
        int(context.span_id, 16),
        is_remote=True,
        trace_flags=trace.TraceFlags(trace.TraceFlags.SAMPLED),
    )
    token = api.attach(trace.set_span_in_context(trace.NonRecordingSpan(span_context)))
    return lambda: api.detach(token)


def _do_nothing() -> None: ...
