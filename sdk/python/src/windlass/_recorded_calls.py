"""Recorded calls: the calls of tasks that a log contains, and the scope in which each was made."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from windlass.domain.events import ExecutionEvent

_CALL_ID = re.compile(r".*_[0-9a-f]{16}(?:@([0-9a-f]{12}))?(?:#\d+)?", re.DOTALL)


@dataclass(slots=True)
class RecordedCall:
    """Call in a log.

    `step` is its position among the calls, from 1, `time` that of its first event, and `scope` the
    hash of the path of its scope, empty for the body of the workflow.
    """

    id: str
    name: str
    step: int
    time: str
    scope: str


def list_recorded_calls(events: Iterable[ExecutionEvent]) -> list[RecordedCall]:
    """Returns the calls of a log in the order in which they were made."""
    calls: dict[str, RecordedCall] = {}
    for event in events:
        call_id = event.source_id
        if not event.type.startswith("TASK_") or call_id in calls:
            continue
        if match := _CALL_ID.fullmatch(call_id):
            step = len(calls) + 1
            calls[call_id] = RecordedCall(call_id, event.name, step, event.time, match[1] or "")
    return list(calls.values())


def scope_of(call_id: str) -> str:
    """Returns the hash of the scope's path in a call id; empty for the body of the workflow."""
    match = _CALL_ID.fullmatch(call_id)
    return match[1] or "" if match else ""


def hash_scope(path: str) -> str:
    """Returns the hash of a scope's path as call ids contain it."""
    return hashlib.sha256(path.encode()).hexdigest()[:12] if path else ""
