"""Zygote: the process from which children are forked.

It is started with a scrubbed environment, imports what children need and then only forks, so a
child is ready within milliseconds and shares the memory of the imports. It never holds a
credential, so neither does a child. It reads requests of eight bytes, each with the socket of the
new child, and writes a message when a child starts or ends.

    python -m windlass.worker._zygote FD SETTINGS-AS-JSON
"""

from __future__ import annotations

import gc
import importlib
import json
import logging
import os
import selectors
import signal
import socket
import struct
import sys
from contextlib import suppress
from typing import Any

import windlass
from windlass import compat
from windlass.interceptors import load_interceptor
from windlass.worker._child import run_child
from windlass.worker._confine import end_with_parent, prefer_for_oom_kill
from windlass.worker._logging import configure

log = logging.getLogger("windlass.worker")

# Number of the new child. Its socket is passed with it.
REQUEST = struct.Struct("!Q")
# Number of the child, its process id, and STARTED or its wait status.
NOTICE = struct.Struct("!Qii")
STARTED = -1
# Wait status of a child that could not be started.
NOT_STARTED = 1 << 8

PRELOAD_FAILED = 3


def main(arguments: list[str]) -> int:
    """Forks children until the worker closes the socket."""
    descriptor, text = arguments
    settings = json.loads(text)
    end_with_parent(settings["parent"])
    # Neither the terminal's Ctrl-C nor a signal to the worker's group concerns children.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    control = socket.socket(fileno=int(descriptor))
    configure(settings["log_level"], settings["log_format"])
    # What workflows use of the package when they run, so that children share it.
    for name in windlass.__all__:
        getattr(windlass, name)
    for name in ("_create_call", "_decode", "_workflow_body"):
        importlib.import_module(f"windlass.{name}")
    compat.install()
    sys.path[:0] = settings["path"]
    for name in settings["preload"]:
        try:
            importlib.import_module(name)
        except BaseException as error:
            print(f"windlass worker: failed to preload {name}: {error!r}", file=sys.stderr)  # noqa: T201
            return PRELOAD_FAILED
    try:
        # Imported here, so that children share the memory, and a wrong one ends the worker.
        for reference in settings["interceptors"]:
            load_interceptor(reference)
    except ValueError as error:
        print(f"windlass worker: {error}", file=sys.stderr)  # noqa: T201
        return PRELOAD_FAILED
    gc.collect()
    gc.freeze()
    control.sendall(NOTICE.pack(0, os.getpid(), STARTED))
    Zygote(control, settings).serve()
    return 0


class Zygote:
    """Forks on request and reports the ends of its children."""

    def __init__(self, control: socket.socket, settings: dict[str, Any]) -> None:
        self._control = control
        self._settings = settings
        self._numbers: dict[int, int] = {}
        self._wake_reading, self._wake_writing = os.pipe()
        for descriptor in (self._wake_reading, self._wake_writing):
            os.set_blocking(descriptor, False)

    def serve(self) -> None:
        """Serves requests until the worker has closed its end."""
        signal.set_wakeup_fd(self._wake_writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _ignore)
        selector = selectors.DefaultSelector()
        selector.register(self._control, selectors.EVENT_READ)
        selector.register(self._wake_reading, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if self._wake_reading in ready:
                with suppress(BlockingIOError):
                    os.read(self._wake_reading, 4096)
            self._reap()
            if self._control in ready and not self._accept(selector):
                return

    def _accept(self, selector: selectors.BaseSelector) -> bool:
        try:
            request, descriptors, _, _ = socket.recv_fds(self._control, REQUEST.size, 1)
        except ConnectionError:
            return False
        if not request:
            return False
        (number,) = REQUEST.unpack(request)
        (descriptor,) = descriptors
        zygote = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:  # no more processes, or no memory
            log.error("failed to start a child: %s", error)
            os.close(descriptor)
            self._notify(number, 0, NOT_STARTED)
            return True
        if pid == 0:
            self._become_child(selector, zygote, descriptor)
        os.close(descriptor)
        self._numbers[pid] = number
        self._notify(number, pid, STARTED)
        return True

    def _become_child(self, selector: selectors.BaseSelector, zygote: int, descriptor: int) -> None:
        """Runs the child and ends its process. Never returns."""
        code = 1
        try:
            # A group of its own, so that processes that workflows start can be ended with it.
            os.setsid()
            end_with_parent(zygote)
            prefer_for_oom_kill()
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            selector.close()
            self._control.close()
            os.close(self._wake_reading)
            os.close(self._wake_writing)
            code = run_child(socket.socket(fileno=descriptor), self._settings)
        finally:
            with suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)

    def _reap(self) -> None:
        while self._numbers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            number = self._numbers.pop(pid, None)
            # What the child's workflows have started ends with it.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            if number is not None:
                self._notify(number, pid, status)

    def _notify(self, number: int, pid: int, status: int) -> None:
        # The worker may have ended; its end of the socket is read next.
        with suppress(ConnectionError):
            self._control.sendall(NOTICE.pack(number, pid, status))


def _ignore(*_: object) -> None:
    """Handles a signal of which only the wake-up counts."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
