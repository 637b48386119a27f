"""Decoder of server-sent events: bytes to frames, without I/O."""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_FRAME_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Frame:
    """One event. A frame without data is valid; pings have none."""

    event: str
    data: str
    id: str
    # The last comment before it in the stream.
    comment: str = field(default="", compare=False)


class FrameTooLarge(Exception):
    """A frame exceeds the maximum size before its end."""


class Decoder:
    """Incremental decoder: accepts chunks cut anywhere and returns complete frames."""

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self._max_frame_bytes = max_frame_bytes
        self._buffer = bytearray()
        self._scanned = 0
        self._frame_bytes = 0
        self._is_first_line = True
        self._event = ""
        self._id = ""
        self._comment = ""
        self._data: list[bytes] = []
        self._has_fields = False

    @property
    def comment(self) -> str:
        """The last comment of the stream so far."""
        return self._comment

    def feed(self, chunk: bytes) -> list[Frame]:
        """Returns the frames that end in this chunk. Raises FrameTooLarge."""
        self._buffer += chunk
        frames: list[Frame] = []
        start = 0
        # The part before `_scanned` has no line end and is not scanned again.
        at = self._scanned
        while (end := self._buffer.find(b"\n", at)) >= 0:
            line = bytes(self._buffer[start:end]).removesuffix(b"\r")
            start = at = end + 1
            if frame := self._read_line(line):
                frames.append(frame)
        del self._buffer[:start]
        self._scanned = len(self._buffer)
        if self._frame_bytes + len(self._buffer) > self._max_frame_bytes:
            raise FrameTooLarge(f"the frame exceeds {self._max_frame_bytes} bytes")
        return frames

    def _read_line(self, line: bytes) -> Frame | None:
        if self._is_first_line:
            self._is_first_line = False
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            return self._dispatch()
        self._frame_bytes += len(line)
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"event":
                self._event = value.decode(errors="replace")
            case b"data":
                self._data.append(value)
            case b"id":
                self._id = value.decode(errors="replace")
            case b"":
                self._comment = value.decode(errors="replace")
                return None
            case _:
                return None
        self._has_fields = True
        return None

    def _dispatch(self) -> Frame | None:
        frame = None
        if self._has_fields:
            data = b"\n".join(self._data).decode(errors="replace")
            frame = Frame(self._event or "message", data, self._id, self._comment)
        self._event, self._id, self._data = "", "", []
        self._has_fields, self._frame_bytes = False, 0
        return frame
