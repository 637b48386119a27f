"""Log entries: events of the execution log together with their JSON text."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from windlass._json import canonical_json, encode, quote_json
from windlass.domain.events import ExecutionEvent
from windlass.domain.state import ExecutionState
from windlass.errors import ValueTooLargeError

# The server accepts bodies of 16 MiB; the rest is for the other members of a checkpoint.
MAX_EVENT_BYTES = 16 * 1024 * 1024 - 64 * 1024

# A longer value identifies its event by a hash of its text, which exists already; the canonical
# form would be a second serialization.
MAX_CANONICAL = 64 * 1024


# Not frozen, although nothing changes it: that would double the time to create it, and each task
# creates two.
@dataclass(slots=True)
class Entry:
    """An event, its JSON text as sent to the server, and the execution state after it."""

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
    time: datetime | None = None,
) -> Entry:
    """Creates an entry; `time` (UTC) is the current time by default.

    `value_text` is the JSON of `value` if the caller has it already; it is sent unchanged.
    """
    text = encode(value) if value_text is None else value_text
    if len(text) > MAX_EVENT_BYTES:
        raise ValueTooLargeError(f"the value of {type} of {name}", len(text), MAX_EVENT_BYTES)
    moment = datetime.now(UTC) if time is None else time
    # Without the offset, which is `+00:00`.
    time_text = moment.isoformat(timespec="microseconds")[:-6] + "Z"
    try:
        identity = _hash(text) if len(text) > MAX_CANONICAL else value
        key = event_id(type, source_id, name, identity, time_text)
    except RecursionError:
        # Deeper than the canonical form can be built: the text identifies the event as well.
        key = event_id(type, source_id, name, text, time_text)
    event = ExecutionEvent(type, source_id, name, value, time_text, key)
    wire = (
        f'{{"id":"{key}","type":"{type}","source_id":{quote_json(source_id)},"name":{quote_json(name)},'
        f'"value":{text},"time":"{time_text}","subject":null}}'
    )
    return Entry(event, wire, state)


def event_id(type: str, source_id: str, name: str, value: Any, time: str) -> str:
    """Returns the event id: 16 hex digits of a hash of the whole event.

    The server appends an event id only once, which makes repeated checkpoints safe.
    """
    # The canonical JSON of an object with these five members.
    return _hash(
        f'{{"name": {quote_json(name)}, "source_id": {quote_json(source_id)}, '
        f'"time": {quote_json(time)}, "type": {quote_json(type)}, '
        f'"value": {canonical_json(value)}}}'
    )[:16]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
