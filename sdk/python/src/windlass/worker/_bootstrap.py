"""Bootstrap token: kept out of the worker's process.

With `--children 0`, or if the worker runs as root, workflows can read the memory, environment and
command line of the worker. A token in the environment or on the command line is therefore moved
into a pipe, and the interpreter is started again without it (`execv` replaces environment and
arguments of the process). A child process then reads the token, registers the worker and ends; the
worker itself gets only the session token.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType

import aiohttp

from windlass.worker._api import Refused
from windlass.worker._registration import Registration, Session
from windlass.worker._settings import Settings
from windlass.worker._tls import create_ssl_context

TOKEN_VARIABLE = "SVC_WORKERS__BOOTSTRAP_TOKEN"
PARENT_CHECK_S = 1.0


class UsageError(Exception):
    """An argument or environment variable is missing or invalid."""


def hide_token(arguments: argparse.Namespace, environment: Mapping[str, str]) -> None:
    """Restarts the interpreter if its environment or its command line contains the token."""
    if not arguments.bootstrap_token and not environment.get(TOKEN_VARIABLE):
        return
    remaining = {name: text for name, text in environment.items() if name != TOKEN_VARIABLE}
    command = [*sys.orig_argv[:1], *_without_token(sys.orig_argv[1:])]
    if arguments.bootstrap_token or (
        arguments.bootstrap_token_fd is None and not arguments.bootstrap_token_file
    ):
        reading, writing = os.pipe()
        os.write(writing, (arguments.bootstrap_token or environment[TOKEN_VARIABLE]).encode())
        os.close(writing)
        os.set_inheritable(reading, True)
        command += ["--bootstrap-token-fd", str(reading)]
    elif arguments.bootstrap_token_fd is not None:
        os.set_inheritable(arguments.bootstrap_token_fd, True)
    os.execve(sys.executable, command, remaining)


def _without_token(command: list[str]) -> list[str]:
    kept: list[str] = []
    words = iter(command)
    for word in words:
        if word == "--bootstrap-token":
            next(words, None)
        elif not word.startswith("--bootstrap-token="):
            kept.append(word)
    return kept


def read_token(arguments: argparse.Namespace, environment: Mapping[str, str]) -> str:
    """Returns the token from its source; a descriptor is closed. Raises UsageError."""
    if arguments.bootstrap_token:
        return str(arguments.bootstrap_token)
    if arguments.bootstrap_token_fd is not None:
        return _read_descriptor(arguments.bootstrap_token_fd)
    if arguments.bootstrap_token_file:
        try:
            return Path(arguments.bootstrap_token_file).read_text().strip()
        except OSError as error:
            raise UsageError(f"failed to read the bootstrap token: {error}") from error
    if token := environment.get(TOKEN_VARIABLE):
        return token.strip()
    raise UsageError(
        "the bootstrap token is missing; set --bootstrap-token-fd, --bootstrap-token-file,"
        f" --bootstrap-token or {TOKEN_VARIABLE};"
        " `windlass server bootstrap-token` prints it on the server"
    )


def _read_descriptor(number: int) -> str:
    """Reads an inherited descriptor to its end and closes it, so that workflows cannot read it."""
    try:
        with os.fdopen(number, "rb") as pipe:
            token = pipe.read().decode().strip()
    except (OSError, ValueError) as error:
        raise UsageError(f"failed to read the bootstrap token: {error}") from error
    if not token:
        raise UsageError(f"file descriptor {number} contains no bootstrap token")
    return token


def register_in_child(
    settings: Settings, read: Callable[[], str], descriptor: int | None
) -> tuple[Settings, Session] | None:
    """Registers the worker in a child process; returns None after SIGTERM or SIGINT.

    A server without session renewal needs the token again, so the settings then contain it.
    Raises Refused or UsageError. `descriptor` is the one that `read` reads; it is closed here.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _run_child(settings, read, writing)
    os.close(writing)
    if descriptor is not None:
        os.close(descriptor)
    stopped = _forward_stop(child)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    if stopped.is_set():
        return None
    result = json.loads(answer or b"{}")
    if "usage" in result:
        raise UsageError(result["usage"])
    if "refused" in result:
        raise Refused(*result["refused"])
    if "session" not in result:
        raise UsageError("failed to register: the registering process has died")
    token = result.get("bootstrap_token", "")
    members = result["session"]
    members["features"] = tuple(members["features"])
    return dataclasses.replace(settings, bootstrap_token=token), Session(**members)


def _forward_stop(child: int) -> threading.Event:
    stopped = threading.Event()

    def stop(_: int, __: FrameType | None) -> None:
        stopped.set()
        os.kill(child, signal.SIGKILL)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    return stopped


def _run_child(settings: Settings, read: Callable[[], str], writing: int) -> None:
    """Registers, writes the result as JSON and ends the process. Never returns."""
    threading.Thread(target=_exit_with_parent, args=(os.getppid(),), daemon=True).start()
    try:
        own = dataclasses.replace(settings, bootstrap_token=read())
        session = asyncio.run(_register(own))
        result: dict[str, object] = {"session": dataclasses.asdict(session)}
        if not session.can_renew:
            result["bootstrap_token"] = own.bootstrap_token
    except UsageError as error:
        result = {"usage": str(error)}
    except Refused as refused:
        result = {"refused": [refused.status, refused.detail]}
    finally:
        sys.stderr.flush()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(json.dumps(result).encode())
    os._exit(0)


async def _register(settings: Settings) -> Session:
    connector = aiohttp.TCPConnector(ssl=create_ssl_context(settings))
    async with aiohttp.ClientSession(connector=connector, proxy=settings.proxy) as http:
        registration = Registration(http, settings)
        await registration.register()
        return registration.session


def _exit_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_S)
    os._exit(1)
