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

from windlass._encryption import require_encryption
from windlass.worker._api import Refused
from windlass.worker._bootstrap import (
    TOKEN_VARIABLE,
    UsageError,
    hide_token,
    read_token,
    register_in_child,
)
from windlass.worker._logging import configure
from windlass.worker._registration import Session
from windlass.worker._settings import Settings
from windlass.worker._tls import create_ssl_context
from windlass.worker._worker import Worker

DEFAULT_SERVER_URL = "http://localhost:8000"

log = logging.getLogger("windlass.worker")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    arguments = create_parser().parse_args(argv)
    configure(arguments.log_level)
    try:
        settings = read_settings(arguments, os.environ)
        create_ssl_context(settings)
        if argv is None:
            hide_token(arguments, os.environ)
        registered = register_in_child(
            settings,
            lambda: read_token(arguments, os.environ),
            arguments.bootstrap_token_fd,
        )
    except (UsageError, OSError) as error:
        print(f"windlass worker: {error}", file=sys.stderr)  # noqa: T201
        return 2
    except Refused as refused:
        log.error("failed to register: refused by the server: %s", refused)
        return 1
    os.environ.pop(TOKEN_VARIABLE, None)
    if registered is None:
        log.info("stopped")
        return 0
    return asyncio.run(_run_worker(*registered))


def read_settings(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Settings:
    """Returns the settings from arguments and environment. Raises UsageError."""
    has_source = arguments.bootstrap_token or arguments.bootstrap_token_file
    if not has_source and arguments.bootstrap_token_fd is None:
        read_token(arguments, environment)
    server_url = arguments.server_url or environment.get("SVC_WORKERS__SERVER_URL")
    server_url = (server_url or DEFAULT_SERVER_URL).rstrip("/")
    try:
        require_encryption(server_url, is_insecure_allowed=arguments.insecure)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if (arguments.client_cert is None) != (arguments.client_key is None):
        raise UsageError("--client-cert and --client-key need each other")
    return Settings(
        name=arguments.name or f"worker-{secrets.token_hex(3)}",
        server_url=server_url,
        bootstrap_token_file=arguments.bootstrap_token_file,
        labels=dict(_label(text) for text in arguments.label),
        max_concurrent_executions=arguments.max_concurrent,
        drain_timeout_s=arguments.drain_timeout,
        stream_idle_s=arguments.stream_idle_timeout,
        ca_file=arguments.ca_file,
        client_cert=arguments.client_cert,
        client_key=arguments.client_key,
    )


async def _run_worker(settings: Settings, session: Session) -> int:
    worker = Worker(settings, session)
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
    start.add_argument(
        "--insecure",
        action="store_true",
        help="allow plain HTTP to another host: tokens and payloads travel unencrypted",
    )
    start.add_argument(
        "--ca-file", metavar="PATH", help="authority of the server's certificate (PEM)"
    )
    start.add_argument(
        "--client-cert", metavar="PATH", help="client certificate (PEM), with --client-key"
    )
    start.add_argument("--client-key", metavar="PATH")
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
