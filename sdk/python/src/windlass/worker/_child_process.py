"""One child process, as the worker sees it: its connection, its runs and its health."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import time
from contextlib import suppress
from typing import Protocol, cast

from windlass.worker._frames import (
    MAX_CHILD_FRAME_BYTES,
    ChildFrame,
    FrameDecoder,
    FrameKind,
    InvalidFrame,
    encode_frame,
)
from windlass.worker._reception import Reception

log = logging.getLogger("windlass.worker")


class Pool(Protocol):
    """Pool of a child."""

    def retire_if_used_up(self, child: ChildProcess) -> None: ...


class Run(Protocol):
    """Run in a child."""

    number: int
    execution_id: str
    # True if the worker no longer waits for this run.
    is_abandoned: bool

    def handle(self, frame: ChildFrame) -> None: ...

    def on_child_ended(self, *, crashed: bool) -> None: ...


class ChildProcess(Reception):
    """Connection to a child. All methods run in the worker's loop."""

    def __init__(self, number: int, pool: Pool, *, is_shared: bool) -> None:
        super().__init__()
        self.number = number
        self.is_shared = is_shared
        self.is_retired = False
        # Killed by the worker for a reason for which its other executions are not to blame.
        self.is_killed = False
        self.pid = 0
        self.runs: dict[int, Run] = {}
        self.started_runs = 0
        self.created_at = time.monotonic()
        self.lag_s = 0.0
        self._pool = pool
        self._decoder = FrameDecoder(MAX_CHILD_FRAME_BYTES)
        self._probed_at: float | None = None
        self._transport: asyncio.WriteTransport | None = None
        # Frames that were sent before the connection was set up in the loop.
        self._early: list[bytes] = []
        self._connecting: asyncio.Task[object] | None = None

    @property
    def takes_runs(self) -> bool:
        """True if any execution may be assigned to this child."""
        return self.is_shared and not self.is_retired and not self.is_killed

    def connect(self) -> socket.socket:
        """Creates the connection and returns the child's end of it."""
        own, other = socket.socketpair()
        own.setblocking(False)
        loop = asyncio.get_running_loop()
        self._connecting = asyncio.ensure_future(
            loop.create_unix_connection(lambda: self, sock=own)
        )
        # A connection that is cancelled before its first step would not close it.
        self._connecting.add_done_callback(lambda task: own.close() if task.cancelled() else None)
        return other

    def add_run(self, run: Run, payload: bytes) -> None:
        """Starts a run in this child."""
        self.started_runs += 1
        self.runs[run.number] = run
        self.send(FrameKind.RUN, run.number, payload)
        self._pool.retire_if_used_up(self)

    def send(self, kind: FrameKind, run: int = 0, payload: bytes = b"") -> None:
        """Sends a frame."""
        frame = encode_frame(kind, run, payload)
        if self._transport is None:
            self._early.append(frame)
        elif not self._transport.is_closing():
            self._transport.write(frame)

    def probe(self) -> None:
        """Sends a probe, unless an earlier one is unanswered."""
        if self._probed_at is None:
            self._probed_at = time.monotonic()
            self.send(FrameKind.PROBE)

    def unanswered_s(self) -> float:
        """Returns for how long a probe is unanswered, in seconds."""
        return 0.0 if self._probed_at is None else time.monotonic() - self._probed_at

    def end_if_idle(self) -> None:
        """Kills a retired child in which only abandoned runs are left."""
        if self.is_retired and all(run.is_abandoned for run in self.runs.values()):
            self.kill()

    def kill(self) -> None:
        """Kills the child; its executions are released without blame."""
        self.is_killed = True
        if self.pid:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def kill_as_crash(self) -> None:
        """Kills the child; its executions are released as crashed."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def on_ended(self) -> None:
        """Ends the runs that the child has left. What it sent before its end has been read."""
        self._read_rest()
        runs, self.runs = list(self.runs.values()), {}
        for run in runs:
            run.on_child_ended(crashed=not self.is_killed)
        self.close()

    def close(self) -> None:
        """Closes the connection, in the next turn of the loop."""
        if self._connecting is not None:
            self._connecting.cancel()
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Sends the frames that were waiting."""
        # Transports of uvloop are not of this class, but have its methods.
        self._transport = transport = cast("asyncio.WriteTransport", transport)
        early, self._early = self._early, []
        if early:
            transport.write(b"".join(early))

    def data_received(self, data: bytes) -> None:
        """Handles the frames of the child; one that is invalid ends it."""
        try:
            for frame in self._decoder.feed(data):
                self._handle(frame)
        except (InvalidFrame, ValueError, KeyError, TypeError, RecursionError) as error:
            log.error("child %d is killed: it sent an invalid frame: %r", self.pid, error)
            self.kill_as_crash()

    def _handle(self, frame: ChildFrame) -> None:
        match frame.kind:
            case FrameKind.READY:
                pass
            case FrameKind.PROBED:
                self.lag_s = self.unanswered_s()
                self._probed_at = None
            case FrameKind.END:
                if run := self.runs.pop(frame.run, None):
                    run.handle(frame)
                    self._pool.retire_if_used_up(self)
            case _:
                if run := self.runs.get(frame.run):
                    run.handle(frame)

    def _read_rest(self) -> None:
        """Reads what is left in the socket: the end was reported by another way."""
        if self._transport is None or self._transport.is_closing():
            return
        descriptor = self._transport.get_extra_info("socket").fileno()
        with suppress(OSError):
            while chunk := os.read(descriptor, 1 << 18):
                self.data_received(chunk)
