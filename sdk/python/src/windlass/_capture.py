"""Capture: what the code of workflows writes with `print` and `logging`, line by line.

`sys.stdout`, `sys.stderr` and the root logger of a process that runs workflows pass on what they
get as before; in addition, text that is written in the context of a run becomes lines of that run.
The worker sends them to the server, which stores them with the execution.

A body runs again from its first line when an execution continues. What it writes until it has made
the calls of the log again was written, and captured, by an earlier run; it is left out. A line may
still be stored twice if a run ends without notice right after it.

Code of sensitive tasks is not captured. Values of secrets that the run has read are replaced by
`***` in all later lines.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TextIO

from windlass._json import encode
from windlass._masking import Mask
from windlass._run import Scope, current_scope

# Of one call, or of the body, in one run.
MAX_LINES = 10_000
MAX_BYTES = 1024 * 1024
# A longer message is cut; of printed text, what comes before a line end.
MAX_CHARS = 16_000

_OWN_LOGGERS = ("windlass.worker", "windlass.run")
_MARKER = (
    f"no more lines of this task are captured: it has written {MAX_LINES} lines or "
    f"{MAX_BYTES // 1024**2} MiB"
)

Sink = Callable[[str], None]


@dataclass(slots=True)
class _Written:
    """Lines of one call in this run, and bytes of their messages."""

    lines: int = 0
    size: int = 0

    @property
    def is_full(self) -> bool:
        return self.lines > MAX_LINES or self.size > MAX_BYTES


class Capture:
    """Captured lines of one run. Callable from any thread; `sink` gets each line as JSON."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._lock = threading.RLock()
        self._written: dict[str, _Written] = {}
        # Printed text without a line end yet, by call and stream.
        self._partial: dict[tuple[str, str, int], tuple[Scope, str]] = {}
        self._mask = Mask()

    def hide(self, values: Iterable[Any]) -> None:
        """Masks the texts of these values in later lines."""
        with self._lock:
            self._mask.add(values)

    def write(self, scope: Scope, stream: str, level: int, text: str) -> None:
        """Captures printed text; each line end ends a line."""
        if _is_left_out(scope):
            return
        key = (scope.call_id, stream, level)
        with self._lock:
            *lines, rest = (self._partial.pop(key, (scope, ""))[1] + text).split("\n")
            if len(rest) > MAX_CHARS:
                lines, rest = [*lines, rest], ""
            for line in lines:
                self._add(scope, stream, level, line)
            if rest:
                self._partial[key] = (scope, rest)

    def add(self, scope: Scope, logger: str, level: int, message: str, seconds: float) -> None:
        """Captures one message of a logger, with its Unix time."""
        if not _is_left_out(scope):
            with self._lock:
                self._add(scope, logger, level, message, datetime.fromtimestamp(seconds, UTC))

    def end(self) -> None:
        """Captures printed text whose line was not ended."""
        with self._lock:
            partial, self._partial = self._partial, {}
            for (_, stream, level), (scope, text) in partial.items():
                self._add(scope, stream, level, text)

    def _add(
        self, scope: Scope, logger: str, level: int, message: str, time: datetime | None = None
    ) -> None:
        written = self._written.setdefault(scope.call_id, _Written())
        if written.is_full:
            return
        message = self._mask.text(message)
        if len(message) > MAX_CHARS:
            message = f"{message[:MAX_CHARS]}…"
        # PostgreSQL stores neither of them.
        message = message.replace("\0", "�").encode("utf-8", "replace").decode()
        written.lines += 1
        written.size += len(message.encode())
        if written.is_full:
            logger, level, message = "windlass", logging.WARNING, _MARKER
        moment = (time or datetime.now(UTC)).replace(tzinfo=None)
        line = {
            "task_id": scope.call_id,
            "task_name": scope.task_name,
            "level": max(0, level),
            "logger": logger,
            "message": message,
            "time": f"{moment.isoformat(timespec='milliseconds')}Z",
        }
        self._sink(encode(line))


def _is_left_out(scope: Scope) -> bool:
    # What comes before the calls of the log was captured by an earlier run.
    return scope.is_sensitive or bool(scope.run.guard.find_unrequested(scope.path))


class CapturedStream:
    """`sys.stdout` or `sys.stderr`: writes to the stream it replaces, and captures."""

    def __init__(self, stream: TextIO, name: str, level: int) -> None:
        self.replaced = stream
        self.users = 0
        self._name = name
        self._level = level

    def write(self, text: str) -> int:
        """Writes and captures text."""
        count = self.replaced.write(text)
        scope = current_scope.get()
        if scope is not None and scope.run.capture is not None:
            scope.run.capture.write(scope, self._name, self._level, text)
        return count

    def writelines(self, lines: Iterable[str]) -> None:
        """Writes and captures texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.replaced, name)


class CaptureHandler(logging.Handler):
    """Handler of the root logger."""

    users = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Captures a record that code of a run has created."""
        scope = current_scope.get()
        if scope is None or scope.run.capture is None or record.name in _OWN_LOGGERS:
            return
        try:
            message = record.getMessage()
            if record.exc_info:
                formatter = self.formatter or logging.Formatter()
                message += f"\n{formatter.formatException(record.exc_info)}"
        except Exception:
            self.handleError(record)
            return
        scope.run.capture.add(scope, record.name, record.levelno, message, record.created)


def install() -> Callable[[], None]:
    """Captures what runs of this process write; returns a function that ends it.

    Several parts of a process may install it; the last one to end it restores the streams.
    """
    with _installing:
        root = logging.getLogger()
        handler = next((one for one in root.handlers if isinstance(one, CaptureHandler)), None)
        if handler is None:
            handler = CaptureHandler()
            root.addHandler(handler)
        handler.users += 1
        streams: list[tuple[str, CapturedStream]] = []
        for name, level in (("stdout", logging.INFO), ("stderr", logging.WARNING)):
            stream = getattr(sys, name)
            if not isinstance(stream, CapturedStream):
                stream = CapturedStream(stream, name, level)
                setattr(sys, name, stream)
            stream.users += 1
            streams.append((name, stream))

    def uninstall() -> None:
        with _installing:
            handler.users -= 1
            if not handler.users:
                root.removeHandler(handler)
            for name, stream in streams:
                stream.users -= 1
                # Something else may have replaced it since.
                if not stream.users and getattr(sys, name) is stream:
                    setattr(sys, name, stream.replaced)

    return uninstall


_installing = threading.Lock()
