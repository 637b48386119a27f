"""Log entries that the server does not have yet, cut into checkpoints. No I/O."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

from windlass.domain.state import ExecutionState

# Less than the server's limit for one body. A single larger entry is sent alone.
MAX_DELTA_BYTES = 4 * 1024 * 1024
MAX_DELTA_EVENTS = 1000


class LogEntry(Protocol):
    """Entry of the log: its JSON text and the execution state after it."""

    @property
    def text(self) -> str: ...

    @property
    def state(self) -> ExecutionState: ...


@dataclass(frozen=True, slots=True)
class Delta:
    """Entries of one checkpoint and the execution state after them."""

    events: tuple[str, ...]
    state: ExecutionState


class PendingEntries:
    """Queue of entries, taken in checkpoints of limited size."""

    def __init__(
        self, max_bytes: int = MAX_DELTA_BYTES, max_events: int = MAX_DELTA_EVENTS
    ) -> None:
        self._max_bytes = max_bytes
        self._max_events = max_events
        self._entries: deque[LogEntry] = deque()

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: LogEntry) -> None:
        """Appends an entry."""
        self._entries.append(entry)

    def clear(self) -> None:
        """Removes all entries."""
        self._entries.clear()

    def take(self) -> Delta | None:
        """Removes and returns the entries of the next checkpoint, or None if there are none."""
        events: list[str] = []
        size = 0
        state = ExecutionState.RUNNING
        while self._entries and len(events) < self._max_events:
            entry = self._entries[0]
            size += len(entry.text)
            if events and size > self._max_bytes:
                break
            self._entries.popleft()
            events.append(entry.text)
            state = entry.state
        return Delta(tuple(events), state) if events else None
