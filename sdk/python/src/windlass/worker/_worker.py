"""The worker: listens to the server, does what it says, and stops when it is told to."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable

import aiohttp

from windlass.worker._api import Refused, Unavailable
from windlass.worker._channel import Channel
from windlass.worker._executions import Executions
from windlass.worker._health import Health
from windlass.worker._host import Host
from windlass.worker._http_api import HttpApi
from windlass.worker._messages import MalformedFrame, understood
from windlass.worker._models import Assignment, Cancellation, Ping
from windlass.worker._modules import Modules
from windlass.worker._registration import Registration
from windlass.worker._settings import Settings
from windlass.worker._sse import Frame
from windlass.worker._user_loop import UserLoop

log = logging.getLogger("windlass.worker")

MAX_CONNECTIONS = 128
# Shorter than what servers commonly allow an idle connection, so that it is closed from here
# and not by the server in the moment of its next use.
KEEPALIVE_S = 4.0
STOP_S = 2.0


class Worker:
    """Runs workflows under one name until `stop` is called."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stop = asyncio.Event()
        self._pong: asyncio.Task[None] | None = None
        self.left_code_running = False

    def stop(self) -> None:
        """Asks the worker to finish what it has, to give back what does not end, and to return."""
        self._stop.set()

    async def run(self) -> None:
        """Works. Raises Refused if the server will not have this worker at all."""
        # Loop-bound things are made here, where the loop is.
        connector = aiohttp.TCPConnector(limit=MAX_CONNECTIONS, keepalive_timeout=KEEPALIVE_S)
        unneeded = ("Accept-Encoding", "Content-Type", "User-Agent")
        users = UserLoop()
        users.start()
        try:
            async with aiohttp.ClientSession(
                connector=connector, skip_auto_headers=unneeded
            ) as http:
                await self._work(http, users)
        finally:
            self.left_code_running = not users.stop(STOP_S)

    async def _work(self, http: aiohttp.ClientSession, users: UserLoop) -> None:
        registration = Registration(http, self._settings)
        if not await self._unless_stopped(registration.open()):
            return
        api = HttpApi(http, self._settings, registration)
        executions = Executions(Host(api, self._settings, users, Modules()))
        health = Health(self._settings, users, executions)
        channel = Channel(http, self._settings, registration)
        listening = asyncio.create_task(self._listen(channel, executions, health, api))
        try:
            await self._unless_stopped(asyncio.shield(listening))
            log.info("stopping: %d executions to finish", len(executions))
            # Said at once, so that nothing more is sent; pings are answered until the end.
            health.draining = True
            self._answer(api, health)
            await executions.drain(self._settings.drain_timeout_s)
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            await executions.close()
            if self._pong is not None:
                await asyncio.wait([self._pong], timeout=STOP_S)
                self._pong.cancel()

    async def _listen(
        self, channel: Channel, executions: Executions, health: Health, api: HttpApi
    ) -> None:
        async for frame in channel.frames():
            if frame is None:
                log.info("connected to %s as %s", self._settings.server_url, self._settings.name)
                if health.draining:
                    self._answer(api, health)
                continue
            match _read(frame):
                case Ping():
                    self._answer(api, health)
                case Assignment() as assignment:
                    executions.take(assignment)
                case Cancellation() as cancellation:
                    executions.cancel(cancellation)

    def _answer(self, api: HttpApi, health: Health) -> None:
        # One answer at a time: while the server is slow, the next one would say nothing new.
        if self._pong is None or self._pong.done():
            self._pong = asyncio.create_task(_pong(api, health.pong()))

    async def _unless_stopped(self, work: Awaitable[None]) -> bool:
        """Whether the work came to its end before somebody called `stop`."""
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


def _read(frame: Frame) -> Ping | Assignment | Cancellation | None:
    try:
        return understood(frame)
    except MalformedFrame as error:
        log.error("cannot understand a frame: %s", error)
        return None


async def _pong(api: HttpApi, body: bytes) -> None:
    try:
        await api.pong(body)
    except (Refused, Unavailable) as error:
        log.warning("a ping could not be answered: %s", error)
