"""New entries of the log."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from windlass._json import canonical_json, encode, quote_json
from windlass.domain.events import ExecutionEvent
from windlass.domain.state import ExecutionState


@dataclass(frozen=True, slots=True)
class Entry:
    """An event, its text as it will be sent, and the state that the execution has with it."""

    event: ExecutionEvent
    text: str
    state: ExecutionState


def create_entry(
    type: str,
    source_id: str,
    name: str,
    value: Any,
    state: ExecutionState,
    *,
    value_text: str | None = None,
) -> Entry:
    """An entry made now. `value_text` is the value's JSON where it is at hand already."""
    text = encode(value) if value_text is None else value_text
    time = datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
    try:
        key = event_id(type, source_id, name, value, time)
    except RecursionError:
        # The text tells the event from others just as well.
        key = event_id(type, source_id, name, text, time)
    event = ExecutionEvent(type, source_id, name, value, time, key)
    wire = (
        f'{{"id":"{key}","type":"{type}","source_id":{quote_json(source_id)},"name":{quote_json(name)},'
        f'"value":{text},"time":"{time}","subject":null}}'
    )
    return Entry(event, wire, state)


def event_id(type: str, source_id: str, name: str, value: Any, time: str) -> str:
    """16 hex digits that stand for the whole event: the log takes an event once."""
    whole = {"name": name, "source_id": source_id, "time": time, "type": type, "value": value}
    return hashlib.sha256(canonical_json(whole).encode()).hexdigest()[:16]
