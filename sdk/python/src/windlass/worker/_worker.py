"""Worker: receives work from the server, runs it, and drains on shutdown."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable

import aiohttp

from windlass._payloads import Payloads
from windlass._sse import Frame
from windlass.worker._api import Refused, Unavailable
from windlass.worker._child_pool import ChildPool
from windlass.worker._codec import load_codec
from windlass.worker._connect_stream import ConnectStream
from windlass.worker._executions import Executions
from windlass.worker._health import PREFIX, Health
from windlass.worker._health_port import health_port
from windlass.worker._http_api import HttpApi
from windlass.worker._local_runner import LocalRunner
from windlass.worker._messages import MalformedFrame, parse_message
from windlass.worker._metrics_provider import ProvidedMetrics, load_provider
from windlass.worker._models import Assignment, Cancellation, Ping, Source
from windlass.worker._registration import Registration, Session
from windlass.worker._runner import Runner
from windlass.worker._settings import Settings
from windlass.worker._tls import create_ssl_context
from windlass.worker._tracing import start_tracing
from windlass.worker._worker_context import WorkerContext

log = logging.getLogger("windlass.worker")

# Comment of a gateway before frames that may be old.
DELAYED = "delayed"

MAX_CONNECTIONS = 128
# Shorter than common server limits for idle connections: the client closes them, so that the server
# cannot close one at the moment of its reuse.
KEEPALIVE_S = 4.0
STOP_TIMEOUT_S = 2.0


class Worker:
    """Runs workflows under one name until `stop` is called."""

    def __init__(
        self,
        settings: Settings,
        session: Session | None = None,
        runner: Runner | None = None,
    ) -> None:
        """Uses `session` if the worker has been registered by another process.

        `runner` runs workflows; by default the one that the settings name.
        """
        self._runner = runner
        self._settings = settings
        self._session = session
        self._stop = asyncio.Event()
        self._pong: asyncio.Task[None] | None = None
        self._providing: asyncio.Task[None] | None = None
        self.left_code_running = False

    def stop(self) -> None:
        """Starts a graceful shutdown: executions end or are released, then `run` returns."""
        self._stop.set()

    async def run(self) -> None:
        """Runs the worker. Raises Refused if the server rejects its registration."""
        # These objects bind to the running event loop.
        connector = aiohttp.TCPConnector(
            limit=MAX_CONNECTIONS,
            keepalive_timeout=KEEPALIVE_S,
            ssl=create_ssl_context(self._settings),
        )
        unneeded = ("Accept-Encoding", "Content-Type", "User-Agent")
        runner = self._runner or (
            ChildPool(self._settings) if self._settings.children else LocalRunner(self._settings)
        )
        try:
            await runner.start()
            async with aiohttp.ClientSession(
                connector=connector, skip_auto_headers=unneeded, proxy=self._settings.proxy
            ) as http:
                await self._work(http, runner)
        finally:
            self.left_code_running = not await runner.stop(STOP_TIMEOUT_S)

    async def _work(self, http: aiohttp.ClientSession, runner: Runner) -> None:
        registration = Registration(http, self._settings, self._session)
        if not await self._run_until_stopped(registration.register()):
            return
        api = HttpApi(http, self._settings, registration)
        tracing = start_tracing(self._settings)
        payloads = Payloads(load_codec(self._settings.codec))
        executions = self._create_executions(
            WorkerContext(api, self._settings, runner, tracing, payloads)
        )
        provided = self._start_provider()
        health = Health(self._settings, runner, executions, provided)
        stream = ConnectStream(http, self._settings, registration)
        listening = asyncio.create_task(self._read_stream(stream, executions, health, api))
        try:
            async with health_port(self._settings.health_host, self._settings.health_port, health):
                await self._run_until_stopped(asyncio.shield(listening))
                log.info("stopping: %d executions are running", len(executions))
                # Reported at once, so that no more work is assigned; pings are answered until the
                # end.
                health.start_draining()
                self._send_pong(api, health)
                await executions.drain(self._settings.drain_timeout_s)
        finally:
            if self._providing is not None:
                self._providing.cancel()
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            await executions.close()
            if tracing is not None:
                await asyncio.to_thread(tracing.stop)
            if self._pong is not None:
                await asyncio.wait([self._pong], timeout=STOP_TIMEOUT_S)
                self._pong.cancel()

    def _create_executions(self, context: WorkerContext) -> Executions:
        return Executions(context)

    def _start_provider(self) -> ProvidedMetrics | None:
        if self._settings.metrics_provider is None:
            return None
        provided = ProvidedMetrics(load_provider(self._settings.metrics_provider), PREFIX)
        self._providing = asyncio.create_task(provided.run())
        return provided

    async def _read_stream(
        self, stream: ConnectStream, executions: Executions, health: Health, api: HttpApi
    ) -> None:
        kept: dict[str, Source] = {}
        async for frame in stream.frames():
            health.record_frame()
            if frame is None:
                kept.clear()
                log.info("connected to %s as %s", self._settings.server_url, self._settings.name)
                if health.is_draining:
                    self._send_pong(api, health)
                continue
            match _parse_frame(frame, kept):
                case Ping():
                    self._send_pong(api, health)
                case Assignment() as assignment:
                    executions.accept(assignment, is_delayed=frame.comment == DELAYED)
                case Cancellation() as cancellation:
                    executions.cancel(cancellation)
                case None:
                    pass

    def _send_pong(self, api: HttpApi, health: Health) -> None:
        # One pong at a time: if the server is slow, a second one has no new information.
        if self._pong is None or self._pong.done():
            self._pong = asyncio.create_task(_pong(api, health.pong_body()))

    async def _run_until_stopped(self, work: Awaitable[None]) -> bool:
        """Waits for the work or for `stop`. Returns True if the work ended first."""
        working = asyncio.ensure_future(work)
        stopping = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                await working
                return True
            return False
        finally:
            stopping.cancel()
            working.cancel()


def _parse_frame(frame: Frame, kept: dict[str, Source]) -> Ping | Assignment | Cancellation | None:
    try:
        return parse_message(frame, kept)
    except MalformedFrame as error:
        log.error("failed to parse frame: %s", error)
        return None


async def _pong(api: HttpApi, body: bytes) -> None:
    try:
        await api.pong(body)
    except (Refused, Unavailable) as error:
        log.warning("failed to answer ping: %s", error)
