"""Frames between the worker and its children: bytes in both directions, without I/O."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

_HEADER = struct.Struct("!IBI")

# Of what a child sends, the largest are entries, which the log limits to 16 MiB.
MAX_CHILD_FRAME_BYTES = 32 * 1024 * 1024
# The log of an execution in one frame.
MAX_PARENT_FRAME_BYTES = 1024 * 1024 * 1024


class FrameKind(IntEnum):
    """Kinds of frames; `run` of a frame is the number of an execution in this child."""

    # Worker to child
    RUN = 1  # JSON of the assignment, a line end, the text of the claim
    CANCEL = 2
    ABORT = 3
    ANSWER = 4  # JSON {"id", "result"} or {"id", "error"}
    TAKEN = 5  # number of entries that the worker has taken since the last TAKEN
    PROBE = 6
    STORED = 7  # number of entries that the server has stored, after a FLUSH
    PARK_EARLY = 8
    # Child to worker
    READY = 16
    ENTRY = 17  # the state after the entry, a line end, the entry's JSON
    END = 18
    CALL = 19  # JSON {"id", "method", "args"}
    DROP_CALL = 20  # id of a call whose answer is no longer awaited
    PROGRESS = 21  # JSON {"task_id", "task_name", "value"}
    PROBED = 22
    PARK = 23  # JSON of the condition; the end of the run follows
    FLUSH = 24  # number of entries so far; STORED follows once they are stored
    SPAN = 25  # JSON of a span that has ended
    LINE = 26  # JSON of a captured line
    WAITING = 27  # the run only waits; a PARK_EARLY would park it


class InvalidFrame(Exception):
    """The other side sent bytes that are no frame."""


# Not frozen, although nothing changes it: each entry of the log takes one, in half the time.
@dataclass(slots=True)
class ChildFrame:
    """One frame."""

    kind: FrameKind
    run: int
    payload: bytes


def encode_frame(kind: FrameKind, run: int = 0, payload: bytes = b"") -> bytes:
    """Returns the bytes of a frame: length of the payload, kind, run, payload."""
    return _HEADER.pack(len(payload), kind, run) + payload


class FrameDecoder:
    """Incremental decoder: accepts chunks cut anywhere and returns complete frames."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        # The start of a frame whose rest is missing, and how long it must be for the next step.
        self._buffer = bytearray()
        self._missing_until = 0

    def feed(self, chunk: bytes) -> Iterator[ChildFrame]:
        """Yields the frames that end in this chunk. Raises InvalidFrame."""
        if self._buffer:
            self._buffer += chunk
            if len(self._buffer) < self._missing_until:
                return
            chunk = bytes(self._buffer)
            self._buffer.clear()
        start, size = 0, len(chunk)
        try:
            while size - start >= _HEADER.size:
                length, number, run = _HEADER.unpack_from(chunk, start)
                if length > self._max_bytes:
                    raise InvalidFrame(f"a frame of {length} bytes")
                kind = _KINDS.get(number)
                if kind is None:
                    raise InvalidFrame(f"a frame of the unknown kind {number}")
                end = start + _HEADER.size + length
                if size < end:
                    self._missing_until = end - start
                    break
                payload = chunk[start + _HEADER.size : end]
                start = end
                yield ChildFrame(kind, run, payload)
            else:
                self._missing_until = _HEADER.size
        finally:
            self._buffer += chunk[start:]


_KINDS = {kind.value: kind for kind in FrameKind}
