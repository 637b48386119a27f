"""The client inside web frameworks, Celery and a notebook, as `docs/python/client.md` promises.

Each is the real program in a process of its own, against a running system with a worker:
`npm run test:frameworks` starts both. `WINDLASS_URL` is the system's address.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import socket
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest
from jupyter_client.manager import KernelManager

from windlass.client import Client

URL = os.environ["WINDLASS_URL"]
APPS = Path(__file__).parent / "apps"
BIN = Path(sys.executable).parent
HANG_S = 60.0
REQUESTS = 8


@pytest.fixture(scope="module", autouse=True)
def uploaded() -> None:
    with Client(URL) as client:
        client.upload(APPS / "shop.py", if_changed=True)


@contextmanager
def running(*command: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a program in the folder of the applications, and ends it with all that it started."""
    process = subprocess.Popen(
        [str(BIN / command[0]), *command[1:]],
        cwd=APPS,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(HANG_S)


def get(url: str, body: object = None) -> str:
    """Returns the answer of a server, for which it waits until it listens."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data, {"content-type": "application/json"})
    deadline = time.monotonic() + HANG_S
    while True:
        try:
            with urlopen(request, timeout=HANG_S) as response:
                return response.read().decode()
        except URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError) or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def free_address() -> str:
    with socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{listener.getsockname()[1]}"


def pid_of(text: str) -> int:
    found = re.search(r"in (\d+)$", text)
    assert found, text
    return int(found[1])


@pytest.mark.parametrize("worker_class", ["sync", "gthread", "gevent"])
def test_flask_in_forked_processes(worker_class: str) -> None:
    address = free_address()
    options = ["--preload", "--workers", "2", "--threads", "2", "--worker-class", worker_class]
    with running("gunicorn", *options, "--bind", address, "flask_app:app") as server:
        before = get(f"http://{address}/before")
        answers = [get(f"http://{address}/pay/{n}") for n in range(REQUESTS)]
    assert before == f"Receipt 0 of the parent in {server.pid}"
    for n, answer in enumerate(answers):
        assert answer.startswith(f"Receipt {n} of Flask in ")
        assert pid_of(answer) != server.pid


def test_django_wsgi() -> None:
    address = free_address()
    with running("gunicorn", "--preload", "--bind", address, "django_app:wsgi"):
        answers = [get(f"http://{address}/pay/{n}") for n in range(REQUESTS)]
    for n, answer in enumerate(answers):
        assert answer.startswith(f"Receipt {n} of Django in ")


def test_django_asgi() -> None:
    address = free_address()
    host, port = address.split(":")
    with running("uvicorn", "--host", host, "--port", port, "django_app:asgi"):
        in_threads = [get(f"http://{address}/thread/{n}") for n in range(REQUESTS)]
        in_loop = [get(f"http://{address}/async/{n}") for n in range(REQUESTS)]
    for n in range(REQUESTS):
        assert in_threads[n].startswith(f"Receipt {n} of a thread in ")
        assert in_loop[n].startswith(f"Receipt {n} of the request in ")


def test_fastapi() -> None:
    address = free_address()
    host, port = address.split(":")
    with running("uvicorn", "--host", host, "--port", port, "fastapi_app:app"):
        order = {"id": 3, "by": "FastAPI"}
        receipts = [json.loads(get(f"http://{address}/pay", order)) for _ in range(REQUESTS)]
        in_threads = [get(f"http://{address}/def/{n}") for n in range(REQUESTS)]
    assert receipts == [{"order_id": 3, "by": "FastAPI"}] * REQUESTS
    for n, answer in enumerate(in_threads):
        assert answer.startswith(f'"Receipt {n} of a thread in ')


# In a process of its own, since the application reads its environment when it is imported.
SENDER = """
from celery_app import pay_order, start_twice
pending = [pay_order.delay(n) for n in range(8)]
first, second = start_twice.delay("the order 1").get(timeout=60)
assert first == second, (first, second)
for n, result in enumerate(pending):
    print(result.get(timeout=60))
"""


@pytest.mark.parametrize("pool", ["prefork", "threads", "gevent"])
def test_celery(pool: str, tmp_path: Path) -> None:
    for name in ("queue", "control", "results"):
        (tmp_path / name).mkdir()
    environment = {"CELERY_FOLDER": str(tmp_path)}
    options = ["--pool", pool, "--concurrency", "2", "--loglevel", "warning"]
    with running("celery", "-A", "celery_app", "worker", *options, **environment) as worker:
        answers = subprocess.check_output(
            [sys.executable, "-c", SENDER],
            cwd=APPS,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
            text=True,
            timeout=HANG_S,
        ).splitlines()
    assert len(answers) == REQUESTS
    for n, answer in enumerate(answers):
        assert answer.startswith(f"Receipt {n} of Celery in ")
        assert (pid_of(answer) == worker.pid) == (pool != "prefork")


CELLS = [
    "import os, sys; sys.path.insert(0, '.')",
    "from shop import Order, pay; from windlass.client import AsyncClient, Client",
    "client = Client(os.environ['WINDLASS_URL']); client.run(pay, Order(4, 'a cell'))",
    "own = AsyncClient(os.environ['WINDLASS_URL']); await own.run(pay, Order(5, 'an await'))",
    "pay.run(Order(6, 'no server')).result()",
    "(await pay.arun(Order(7, 'no server'))).result()",
    "client.close(); await own.close(); 'closed'",
]


def test_notebook() -> None:
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(APPS))
    kernel = manager.blocking_client()
    try:
        kernel.start_channels()
        kernel.wait_for_ready(timeout=HANG_S)
        results: list[str] = []

        def keep(message: dict) -> None:
            if message["msg_type"] == "execute_result":
                results.append(message["content"]["data"]["text/plain"])

        for cell in CELLS:
            reply = kernel.execute_interactive(cell, timeout=HANG_S, output_hook=keep)
            assert reply["content"]["status"] == "ok", reply["content"]
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)
    assert results == [
        "Receipt(order_id=4, by='a cell')",
        "Receipt(order_id=5, by='an await')",
        "Receipt(order_id=6, by='no server')",
        "Receipt(order_id=7, by='no server')",
        "'closed'",
    ]
