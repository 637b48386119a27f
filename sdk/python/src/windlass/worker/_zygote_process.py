"""The zygote, as the worker sees it: its process and the socket for requests and notices."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

from windlass.worker._confine import scrub_environment
from windlass.worker._runner import RunnerFailed
from windlass.worker._settings import Settings
from windlass.worker._zygote import NOTICE, REQUEST, STARTED

START_TIMEOUT_S = 60.0
RESTART_DELAY_S = 0.5
POLL_S = 0.02


class ZygoteProcess:
    """Starts the zygote again whenever it ends. All methods run in the worker's loop."""

    def __init__(
        self,
        settings: Settings,
        on_started: Callable[[int, int], None],
        on_ended: Callable[[int, int], None],
        on_lost: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._on_started = on_started
        self._on_ended = on_ended
        self._on_lost = on_lost
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._buffer = bytearray()
        self._ready = asyncio.Event()
        self._requests: list[tuple[int, socket.socket]] = []
        self._restarting: asyncio.Task[None] | None = None
        self._is_stopping = False

    async def start(self) -> None:
        """Starts the process and waits until it can fork. Raises RunnerFailed."""
        self._open()
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                while not self._ready.is_set():
                    if self._process is not None and self._process.poll() is not None:
                        raise RunnerFailed("the process that starts children has ended; see above")
                    await asyncio.sleep(POLL_S)
        except TimeoutError:
            raise RunnerFailed("the process that starts children does not answer") from None

    def request(self, number: int, connection: socket.socket) -> None:
        """Requests a child with this end of a connection, which is closed here."""
        self._requests.append((number, connection))
        self._send_requests()

    async def stop(self, timeout_s: float) -> None:
        """Ends the process; its children end with it."""
        self._is_stopping = True
        if self._restarting is not None:
            self._restarting.cancel()
        self._close()
        self._drop_requests()
        process = self._process
        if process is None:
            return
        deadline = asyncio.get_running_loop().time() + timeout_s
        while process.poll() is None:
            if asyncio.get_running_loop().time() > deadline:
                process.kill()
            await asyncio.sleep(POLL_S)

    def _open(self) -> None:
        self._ready.clear()
        self._buffer.clear()
        own, other = socket.socketpair()
        self._control = own
        own.setblocking(False)
        members = {
            "parent": os.getpid(),
            "log_level": self._settings.log_level,
            "log_format": self._settings.log_format,
            "path": list(self._settings.path),
            "preload": list(self._settings.preload),
            "interceptors": list(self._settings.interceptors),
            "task_processes": self._settings.task_processes,
        }
        flags: list[str] = cast("Any", subprocess)._args_from_interpreter_flags()
        command = [sys.executable, *flags, "-m", "windlass.worker._zygote"]
        with other:
            self._process = subprocess.Popen(
                [*command, str(other.fileno()), json.dumps(members)],
                stdin=subprocess.DEVNULL,
                env=scrub_environment(os.environ, self._settings.pass_env),
                pass_fds=[other.fileno()],
                start_new_session=True,
            )
        asyncio.get_running_loop().add_reader(own, self._read)

    def _close(self) -> None:
        if self._control is not None:
            asyncio.get_running_loop().remove_reader(self._control)
            self._control.close()
            self._control = None

    def _drop_requests(self) -> None:
        for _, connection in self._requests:
            connection.close()
        self._requests.clear()

    def _send_requests(self) -> None:
        while self._requests and self._control is not None and self._ready.is_set():
            number, connection = self._requests[0]
            try:
                socket.send_fds(self._control, [REQUEST.pack(number)], [connection.fileno()])
            except BlockingIOError:
                asyncio.get_running_loop().call_later(POLL_S, self._send_requests)
                return
            except OSError:
                return  # The end of the process is read next.
            self._requests.pop(0)
            connection.close()

    def _read(self) -> None:
        assert self._control is not None
        try:
            chunk = self._control.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._on_end()
            return
        self._buffer += chunk
        while len(self._buffer) >= NOTICE.size:
            number, pid, status = NOTICE.unpack_from(self._buffer)
            del self._buffer[: NOTICE.size]
            if number == 0:
                self._ready.set()
                self._send_requests()
            elif status == STARTED:
                self._on_started(number, pid)
            else:
                self._on_ended(number, status)

    def _on_end(self) -> None:
        was_ready = self._ready.is_set()
        self._close()
        if was_ready and not self._is_stopping:
            self._drop_requests()
            self._restarting = asyncio.create_task(self._restart())
            self._on_lost()

    async def _restart(self) -> None:
        process = self._process
        await asyncio.sleep(RESTART_DELAY_S)
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await asyncio.to_thread(process.wait)
        self._open()
