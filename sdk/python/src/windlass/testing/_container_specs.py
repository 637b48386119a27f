"""Containers of a Windlass system: images, commands and variables, without an engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

NAME = "windlass"
SERVER = "server"
PORT = 8000
FLOWS = "/flows"


@dataclass(frozen=True, slots=True)
class Images:
    """Names of the images."""

    windlass: str = "windlass:0.1.0"
    worker: str = "windlass-worker:0.1.0"
    postgres: str = "postgres:17"
    nats: str = "nats:2"
    redis: str = "redis:8"


@dataclass(frozen=True, slots=True)
class ContainerSpec:
    """One container. It is ready when its log has the message that many times."""

    image: str
    alias: str
    command: list[str] = field(default_factory=list[str])
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    tmpfs: str | None = None
    ready_message: str | None = None
    ready_times: int = 1


def stores(images: Images, password: str) -> list[ContainerSpec]:
    """Returns PostgreSQL, NATS and Redis, which keep nothing."""
    return [
        ContainerSpec(
            images.postgres,
            "postgres",
            ["postgres", "-c", "fsync=off", "-c", "max_connections=200"],
            {"POSTGRES_USER": NAME, "POSTGRES_DB": NAME, "POSTGRES_PASSWORD": password},
            tmpfs="/var/lib/postgresql/data",
            ready_message="database system is ready to accept connections",
            # The temporary server that initializes the database says so too.
            ready_times=2,
        ),
        ContainerSpec(
            images.nats,
            "nats",
            ["-js", "--user", NAME, "--pass", password],
            ready_message="Server is ready",
        ),
        ContainerSpec(
            images.redis,
            "redis",
            ["redis-server", "--requirepass", password, "--save", ""],
            ready_message="Ready to accept connections",
        ),
    ]


def server(images: Images, password: str, token: str) -> ContainerSpec:
    """Returns all services in one container; its port is `PORT`."""
    return ContainerSpec(
        images.windlass,
        SERVER,
        ["all"],
        {
            "SVC_SECURITY__AUTH__ENABLED": "true",
            "SVC_WORKERS__BOOTSTRAP_TOKEN": token,
            "SVC_SERVER__ALLOWED_HOSTS": SERVER,
            "SVC_POSTGRES__URL": f"postgres://{NAME}:{password}@postgres:5432/{NAME}",
            "SVC_NATS__URL": f"nats://{NAME}:{password}@nats:4222",
            "SVC_REDIS__URL": f"redis://:{password}@redis:6379",
        },
    )


def worker(images: Images, alias: str, token: str) -> ContainerSpec:
    """Returns a worker that imports modules from `FLOWS`."""
    return ContainerSpec(
        images.worker,
        alias,
        environment={
            "SVC_WORKER__SERVER_URL": f"http://{SERVER}:{PORT}",
            "SVC_WORKER__INSECURE": "true",
            "SVC_WORKER__PATH": FLOWS,
            "SVC_WORKERS__BOOTSTRAP_TOKEN": token,
        },
    )
