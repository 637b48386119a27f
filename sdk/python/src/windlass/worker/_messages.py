"""Parsing of the frames of the connect stream."""

from __future__ import annotations

import time
from typing import Any

from windlass._json import loads, slice_json
from windlass._sse import Frame
from windlass.worker._models import (
    Assignment,
    Cancellation,
    Claim,
    Delivery,
    Message,
    Ping,
    Source,
    parse_context,
)


class MalformedFrame(Exception):
    """A frame that cannot be parsed. The server sends its content again."""


def parse_message(frame: Frame, kept: dict[str, Source]) -> Message | None:
    """Parses a frame; returns None for unknown events. Raises MalformedFrame.

    `kept` has the sources of this connection by their ids; those that the frame says to keep are
    added to it.
    """
    if frame.event == "ping":
        return Ping()
    if frame.event not in {"execution_scheduled", "execution_resumed", "execution_cancelled"}:
        return None
    try:
        payload = loads(frame.data)
        if frame.event == "execution_cancelled":
            generation = payload.get("claim_generation")
            return Cancellation(
                parse_context(payload["context"]),
                None if generation is None else str(int(generation)),
            )
        return _assignment(payload, frame.data, kept)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise MalformedFrame(f"{frame.event} {frame.id}: {error!r}") from error


def _assignment(payload: dict[str, Any], text: str, kept: dict[str, Source]) -> Assignment:
    source = _source(payload["workflow"], kept)
    if payload.get("keep_workflow") is True:
        kept[source.id] = source
    return Assignment(
        execution_id=payload["context"]["execution_id"],
        source=source,
        exec_token=payload.get("exec_token"),
        transient=payload.get("transient") is True,
        runner=payload.get("runner"),
        delivery=_delivery(payload, text) if payload.get("claim") else None,
        traceparent=payload.get("traceparent"),
    )


def _source(workflow: dict[str, Any], kept: dict[str, Source]) -> Source:
    if "source" not in workflow:
        return kept[workflow["id"]]
    return Source(
        id=workflow["id"],
        namespace=workflow.get("namespace") or "default",
        name=workflow["name"],
        version=workflow["version"],
        base64=workflow["source"],
    )


def _delivery(payload: dict[str, Any], text: str) -> Delivery:
    members = payload["claim"]
    claim = Claim(
        parse_context(payload["context"]),
        slice_json(text, "context") or "",
        str(int(members["generation"])),
        payload.get("exec_token"),
    )
    return Delivery(claim, float(members["timeout"]), time.monotonic())
