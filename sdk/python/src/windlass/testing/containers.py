"""A whole Windlass system in containers, for tests that need a server.

    with WindlassContainer().with_worker("flows") as windlass:
        assert windlass.client.run("hello_world", "World") == "Hello, World"

PostgreSQL, NATS, Redis, all services in one container, and a Python worker for each folder. A
container engine must answer and have the images, or be able to fetch them; docs/operations.md of
the repository builds them. It needs `pip install 'windlass[containers]'`. The services share one
role in each store, so this is not for production.
"""

from __future__ import annotations

import json
import secrets
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.request import Request, urlopen

try:
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.network import Network
    from testcontainers.core.wait_strategies import HttpWaitStrategy, LogMessageWaitStrategy
except ImportError as error:
    raise ImportError("this needs a library: pip install 'windlass[containers]'") from error

from windlass.client import Client
from windlass.testing._container_specs import (
    FLOWS,
    PORT,
    ContainerSpec,
    Images,
    server,
    stores,
    worker,
)

__all__ = ["WindlassContainer"]

START_S = 120
POLL_S = 0.25
REQUEST_S = 30.0
CREATE_KEY = ["node", "/app/entry.mjs", "windlass", "admin", "create-key"]


class WindlassContainer:
    """A system that runs from `start` to `stop`, or in a `with` statement."""

    url: str
    """Base URL of the API."""
    admin_key: str
    """An API key with the role admin."""
    client: Client
    """A client with that key, which closes with the system."""

    def __init__(self, **images: str) -> None:
        """Replaces images: `windlass`, `worker`, `postgres`, `nats`, `redis`."""
        self._images = replace(Images(), **images)
        self._folders: list[Path] = []
        self._running = ExitStack()

    def with_worker(self, folder: str | Path) -> Self:
        """Adds a worker with a folder on its import path; its `*.py` files are registered."""
        path = Path(folder).resolve()
        if not path.is_dir():
            raise NotADirectoryError(f"{path} is not a folder")
        self._folders.append(path)
        return self

    def start(self) -> Self:
        """Starts everything and returns when the workers are online.

        Removes what was started if it fails.
        """
        password, token = secrets.token_hex(16), secrets.token_hex(24)
        with ExitStack() as running:
            network = running.enter_context(Network())

            def start(container: Any) -> Any:
                return running.enter_context(container.with_network(network))

            for spec in stores(self._images, password):
                start(_container(spec))
            ready = HttpWaitStrategy(PORT, "/ready").for_status_code(200)
            services = start(
                _container(server(self._images, password, token))
                .with_exposed_ports(PORT)
                .waiting_for(ready.with_startup_timeout(START_S))
            )
            host, port = services.get_container_host_ip(), services.get_exposed_port(PORT)
            self.url = f"http://{host}:{port}"
            self.admin_key = _run(services, CREATE_KEY)
            self.client = running.enter_context(Client(self.url, self.admin_key, insecure=True))
            for number, folder in enumerate(self._folders):
                for source in sorted(folder.glob("*.py")):
                    self.client.upload(source)
                spec = worker(self._images, f"worker-{number}", token)
                start(_with_files(_container(spec), folder))
            self._await_workers()
            self._running = running.pop_all()
        return self

    def stop(self) -> None:
        """Removes all containers, workers first and stores last, and their network."""
        self._running.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _await_workers(self) -> None:
        end = time.monotonic() + START_S
        while self._count_online() < len(self._folders):
            if time.monotonic() > end:
                raise TimeoutError(f"not all workers are online after {START_S} s")
            time.sleep(POLL_S)

    def _count_online(self) -> int:
        headers = {"Authorization": f"Bearer {self.admin_key}"}
        with urlopen(Request(f"{self.url}/workers", headers=headers), timeout=REQUEST_S) as answer:
            workers: list[dict[str, Any]] = json.load(answer)
        return sum(one["status"] == "online" for one in workers)


def _container(spec: ContainerSpec) -> Any:
    """Makes a container that has not started."""
    container = DockerContainer(spec.image).with_envs(**spec.environment)
    container = container.with_network_aliases(spec.alias)
    if spec.command:
        container = container.with_command(spec.command)
    if spec.tmpfs is not None:
        container = container.with_tmpfs_mount(spec.tmpfs)
    if spec.ready_message is not None:
        ready = LogMessageWaitStrategy(spec.ready_message, times=spec.ready_times)
        container = container.waiting_for(ready.with_startup_timeout(START_S))
    return container


def _with_files(container: Any, folder: Path) -> Any:
    """Copies what the folder contains to `FLOWS`."""
    for path in sorted(folder.iterdir()):
        # A folder keeps its name below the destination, a file is named by it.
        target = FLOWS if path.is_dir() else f"{FLOWS}/{path.name}"
        container = container.with_copy_into_container(path, target)
    return container


def _run(container: Any, command: list[str]) -> str:
    """Runs a command in a container; returns its standard output, without blanks around it."""
    code, (output, errors) = container.get_wrapped_container().exec_run(command, demux=True)
    if code != 0:
        text = ((output or b"") + (errors or b"")).decode()
        raise RuntimeError(f"{' '.join(command)} exited with {code}: {text}")
    return str(output.decode().strip())
