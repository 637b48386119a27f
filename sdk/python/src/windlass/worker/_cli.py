"""Command line of the worker: `python -m windlass.worker start`."""

from __future__ import annotations

import argparse
import asyncio
import logging
import math
import os
import secrets
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from windlass.worker._api import Refused
from windlass.worker._logging import configure
from windlass.worker._settings import Settings
from windlass.worker._worker import Worker

DEFAULT_SERVER_URL = "http://localhost:8000"
TOKEN_VARIABLE = "SVC_WORKERS__BOOTSTRAP_TOKEN"

log = logging.getLogger("windlass.worker")


class UsageError(Exception):
    """An argument or environment variable is missing or invalid."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    arguments = create_parser().parse_args(argv)
    configure(arguments.log_level)
    try:
        settings = read_settings(arguments, os.environ)
    except UsageError as error:
        print(f"windlass worker: {error}", file=sys.stderr)  # noqa: T201
        return 2
    # Workflows and the processes that they start must not inherit the bootstrap token.
    os.environ.pop(TOKEN_VARIABLE, None)
    return asyncio.run(_run_worker(settings))


def read_settings(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Settings:
    """Returns the settings from arguments and environment. Raises UsageError."""
    server_url = arguments.server_url or environment.get("SVC_WORKERS__SERVER_URL")
    return Settings(
        name=arguments.name or f"worker-{secrets.token_hex(3)}",
        server_url=(server_url or DEFAULT_SERVER_URL).rstrip("/"),
        bootstrap_token=_bootstrap_token(arguments, environment),
        labels=dict(_label(text) for text in arguments.label),
        max_concurrent_executions=arguments.max_concurrent,
        drain_timeout_s=arguments.drain_timeout,
        stream_idle_s=arguments.stream_idle_timeout,
    )


async def _run_worker(settings: Settings) -> int:
    worker = Worker(settings)
    loop = asyncio.get_running_loop()
    signals = 0

    def stop() -> None:
        nonlocal signals
        signals += 1
        if signals > 1:
            log.warning("stopping without draining")
            _exit(1)
        worker.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        await worker.run()
    except Refused as refused:
        log.error("failed to register: refused by the server: %s", refused)
        return 1
    log.info("stopped")
    if worker.left_code_running:
        # A thread in user code cannot be stopped, and the interpreter would wait for it at exit.
        _exit(0)
    return 0


def _exit(code: int) -> None:
    logging.shutdown()
    os._exit(code)


def _bootstrap_token(arguments: argparse.Namespace, environment: Mapping[str, str]) -> str:
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
        f" --bootstrap-token or {TOKEN_VARIABLE}"
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


def _label(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise UsageError(f"the label {text!r} is not of the form key=value")
    return key, value


def _count(text: str) -> int:
    if not text.isascii() or not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer of at least 0")
    return int(text)


def _duration(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds of at least 0")
    return seconds


def _timeout(text: str) -> float:
    seconds = _duration(text)
    if seconds == 0:
        raise argparse.ArgumentTypeError("the timeout must be above 0 seconds")
    return seconds


def create_parser() -> argparse.ArgumentParser:
    """Creates the parser of the command line."""
    parser = argparse.ArgumentParser(prog="windlass worker")
    start = parser.add_subparsers(required=True, metavar="command").add_parser(
        "start", help="run workflows until SIGTERM or SIGINT"
    )
    start.add_argument("--server-url", help=f"default: {DEFAULT_SERVER_URL}")
    start.add_argument("--name", help="default: worker- and six hex digits")
    start.add_argument("--label", action="append", default=[], metavar="KEY=VALUE")
    start.add_argument(
        "--max-concurrent",
        type=_count,
        default=16,
        metavar="N",
        help="executions at a time; 0: no limit; default: 16",
    )
    start.add_argument("--bootstrap-token", metavar="TOKEN")
    start.add_argument("--bootstrap-token-file", metavar="PATH")
    start.add_argument(
        "--bootstrap-token-fd",
        type=_count,
        metavar="N",
        help="inherited file descriptor from which the token is read; closed afterwards",
    )
    start.add_argument(
        "--drain-timeout",
        type=_duration,
        default=25.0,
        metavar="SECONDS",
        help="time for running executions after SIGTERM; default: 25",
    )
    start.add_argument("--stream-idle-timeout", type=_timeout, default=60.0, metavar="SECONDS")
    start.add_argument("--log-level", default="info", choices=["debug", "info", "warning", "error"])
    return parser
