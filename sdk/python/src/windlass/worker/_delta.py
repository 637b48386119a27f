"""What of a log the server does not know yet. Pure."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from windlass._entry import Entry
from windlass.domain.state import ExecutionState

# Below what the server takes in one body; a single larger entry still goes alone.
MAX_DELTA_BYTES = 4 * 1024 * 1024
MAX_DELTA_EVENTS = 1000


@dataclass(frozen=True, slots=True)
class Delta:
    """Entries for one checkpoint, and the state that the execution has after them."""

    events: tuple[str, ...]
    state: ExecutionState


class PendingEntries:
    """Entries in their order, cut into checkpoints of bearable size."""

    def __init__(
        self, max_bytes: int = MAX_DELTA_BYTES, max_events: int = MAX_DELTA_EVENTS
    ) -> None:
        self._max_bytes = max_bytes
        self._max_events = max_events
        self._entries: deque[Entry] = deque()

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: Entry) -> None:
        """Appends an entry."""
        self._entries.append(entry)

    def clear(self) -> None:
        """Forgets everything."""
        self._entries.clear()

    def take(self) -> Delta | None:
        """As much as fits into one checkpoint; None if there is nothing."""
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
