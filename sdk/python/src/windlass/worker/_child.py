"""Child: a process that runs workflows for the worker. `_child_pool` describes the design."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import selectors
import socket
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from windlass import _capture
from windlass._capture import Capture
from windlass._children import track_children
from windlass._entry import Entry
from windlass._environment import Environment
from windlass._parking import WakeCondition
from windlass._run import Run
from windlass._trace import SpanRecord, Trace, parse_traceparent
from windlass.interceptors import load_interceptor
from windlass.worker._child_services import ChildServices
from windlass.worker._confine import keep_from_forks
from windlass.worker._frames import (
    MAX_PARENT_FRAME_BYTES,
    ChildFrame,
    FrameDecoder,
    FrameKind,
    encode_frame,
)
from windlass.worker._models import Source, parse_claim
from windlass.worker._modules import Modules
from windlass.worker._outbox import MAX_PENDING_EVENTS
from windlass.worker._reception import Reception
from windlass.worker._task_processes import TaskProcesses
from windlass.worker._user_loop import MAX_THREADS
from windlass.worker._workflow_run import WorkflowRun

log = logging.getLogger("windlass.worker")

FORKED_EXIT = 70


def run_child(parent: socket.socket, settings: dict[str, Any]) -> int:
    """Runs workflows until the worker closes the socket. Returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True)
    parent.setblocking(False)
    selector = ForkAwareSelector(parent)
    loop = asyncio.SelectorEventLoop(selector)
    loop.set_task_factory(track_children)
    loop.set_default_executor(ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="windlass-task"))
    asyncio.set_event_loop(loop)
    _capture.install()
    child = Child(loop, settings)
    loop.run_until_complete(loop.create_unix_connection(lambda: child, sock=parent))
    while not child.is_closed:
        try:
            loop.run_forever()
        except BaseException:
            # For example a SystemExit in an asyncio task of user code. Other executions must
            # continue.
            log.exception("user code raised in the event loop")
    return 0


class ForkAwareSelector(selectors.DefaultSelector):
    """Selector of the child's event loop.

    If a workflow forks, the new process has a copy of the loop and of the socket. It must not write
    frames, and it ends when it returns to the loop.
    """

    def __init__(self, parent: socket.socket) -> None:
        super().__init__()
        self._is_fork = False

        def note_fork() -> None:
            self._is_fork = True

        os.register_at_fork(after_in_child=note_fork)
        keep_from_forks(parent.fileno())

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Waits for events; ends the process in a fork."""
        if self._is_fork:
            os._exit(FORKED_EXIT)
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(timeout)
        return ready


class Child(Reception):
    """Runs of one child and their connection to the worker.

    All methods but `send` run in the event loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, settings: dict[str, Any]) -> None:
        super().__init__()
        self._loop = loop
        self._thread = threading.get_ident()
        self._modules = Modules()
        # A child has no variables but those that workflows may read.
        self._environment = Environment(
            processes=TaskProcesses(
                settings["task_processes"], settings["log_level"], settings["log_format"], None
            ),
            interceptors=[load_interceptor(reference) for reference in settings["interceptors"]],
        )
        self._decoder = FrameDecoder(MAX_PARENT_FRAME_BYTES)
        self._runs: dict[int, ChildRun] = {}
        self.is_closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Reports that the child is ready."""
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        # Never pauses: `wait_for_capacity` bounds what is unsent.
        self.send(FrameKind.READY)

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the child: its worker has ended or has closed the socket."""
        self.is_closed = True
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(0)

    def data_received(self, data: bytes) -> None:
        """Handles the frames of the worker."""
        for frame in self._decoder.feed(data):
            self._handle(frame)

    def send(self, kind: FrameKind, run: int = 0, payload: bytes = b"") -> None:
        """Sends a frame. It has left the process on return, unless the worker is slow.

        Callable from any thread: code in one may have an event loop of its own. From another one,
        the frame leaves in the next turn of the loop.
        """
        frame = encode_frame(kind, run, payload)
        if threading.get_ident() == self._thread:
            self._transport.write(frame)
        else:
            # Fails if the loop is closed, at the end of the process.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._transport.write, frame)

    def _handle(self, frame: ChildFrame) -> None:
        if frame.kind is FrameKind.PROBE:
            self.send(FrameKind.PROBED)
        elif frame.kind is FrameKind.RUN:
            self._begin(frame)
        elif run := self._runs.get(frame.run):
            run.handle(frame)

    def _begin(self, frame: ChildFrame) -> None:
        header, _, claim_text = frame.payload.partition(b"\n")
        assignment = json.loads(header)
        number = frame.run

        def end() -> None:
            del self._runs[number]
            self.send(FrameKind.END, number)

        run = ChildRun(
            number, assignment, claim_text.decode(), self.send, self._loop, self._environment
        )
        self._runs[number] = run
        run.begin(self._modules, end)


class ChildRun:
    """One execution in this child: its journal, its services and its run."""

    def __init__(
        self,
        number: int,
        assignment: dict[str, Any],
        claim_text: str,
        send: Callable[[FrameKind, int, bytes], None],
        loop: asyncio.AbstractEventLoop,
        environment: Environment,
    ) -> None:
        self._number = number
        self._send = send
        self._journal = ChildJournal(number, send)
        self._services = ChildServices(
            loop,
            lambda kind, payload: send(kind, number, payload),
            authorizes_tasks=assignment["authorizes_tasks"],
        )
        self._source = Source(**assignment["source"])
        context = parse_traceparent(assignment["traceparent"])
        claim = parse_claim(claim_text)
        self._run = Run(
            claim.context,
            self._journal,
            self._services,
            input_text=claim.input_text,
            resume_text=claim.resume_text,
            transient=assignment["transient"],
            version=self._source.version,
            environment=environment,
            trace=None if context is None else Trace(context, self._send_span),
        )
        if assignment["captures_lines"]:
            self._run.capture = Capture(lambda line: send(FrameKind.LINE, number, line.encode()))
        self._park_after_s: float | None = assignment["park_after_s"]
        self._is_cancelled: bool = assignment["is_cancelled"]

    def begin(self, modules: Modules, end: Callable[[], None]) -> None:
        """Starts the run; `end` is called once it has ended."""
        self._workflow_run = WorkflowRun(modules, self._source, self._run, end)
        if self._park_after_s is not None:
            self._workflow_run.enable_parking(
                self._park_after_s,
                self._on_park,
                lambda: self._send(FrameKind.WAITING, self._number, b""),
            )
        if self._is_cancelled:
            self._workflow_run.stop(closing=False)
        self._workflow_run.begin()

    def _send_span(self, record: SpanRecord) -> None:
        self._send(FrameKind.SPAN, self._number, json.dumps(record.to_wire()).encode())

    def _on_park(self, condition: WakeCondition) -> None:
        self._send(FrameKind.PARK, self._number, json.dumps(condition.to_wire()).encode())

    def handle(self, frame: ChildFrame) -> None:
        """Handles a frame for this run."""
        match frame.kind:
            case FrameKind.CANCEL:
                self._workflow_run.stop(closing=False)
            case FrameKind.ABORT:
                self._run.close()
                self._journal.abandon()
                self._workflow_run.stop(closing=True)
            case FrameKind.PARK_EARLY:
                self._workflow_run.park_early()
            case FrameKind.ANSWER:
                self._services.on_answer(json.loads(frame.payload))
            case FrameKind.TAKEN:
                self._journal.on_taken(int(frame.payload))
            case FrameKind.STORED:
                self._journal.on_stored(int(frame.payload))
            case _:
                pass


class ChildJournal:
    """Journal of a run: sends each entry to the worker at once, which makes the checkpoints."""

    def __init__(self, number: int, send: Callable[[FrameKind, int, bytes], None]) -> None:
        self._number = number
        self._send = send
        self._unsent = 0
        self._recorded = 0
        self._stored = 0
        self._is_abandoned = False
        self._capacity = asyncio.Event()
        self._storage = asyncio.Event()

    def record(self, entry: Entry) -> None:
        """Sends an entry."""
        self._unsent += 1
        self._recorded += 1
        payload = f"{entry.state}\n{entry.text}".encode()
        self._send(FrameKind.ENTRY, self._number, payload)

    async def wait_for_capacity(self) -> None:
        """Waits while the server accepts entries more slowly than the run records them."""
        while self._unsent >= MAX_PENDING_EVENTS and not self._is_abandoned:
            self._capacity.clear()
            await self._capacity.wait()

    async def wait_until_stored(self) -> None:
        """Waits until the server has stored all entries so far."""
        target = self._recorded
        if self._stored < target:
            self._send(FrameKind.FLUSH, self._number, str(target).encode())
        while self._stored < target and not self._is_abandoned:
            self._storage.clear()
            await self._storage.wait()
        if self._stored < target:
            raise asyncio.CancelledError("the run is closed")

    def on_stored(self, count: int) -> None:
        """Notes how many entries the server has stored."""
        self._stored = count
        self._storage.set()

    def on_taken(self, count: int) -> None:
        """Notes that the worker has taken entries into checkpoints."""
        self._unsent -= count
        self._capacity.set()

    def abandon(self) -> None:
        """Ends the waits."""
        self._is_abandoned = True
        self._capacity.set()
        self._storage.set()
