"""Command line of the worker: `python -m windlass.worker start`."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import logging
import os
import secrets
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from windlass._encryption import require_encryption
from windlass.worker._api import Refused
from windlass.worker._bootstrap import (
    TOKEN_VARIABLE,
    UsageError,
    hide_token,
    read_token,
    register_in_child,
)
from windlass.worker._cli_options import create_parser, resolve_options
from windlass.worker._codec import load_codec
from windlass.worker._confine import forbid_inspection
from windlass.worker._logging import configure
from windlass.worker._metrics_provider import load_provider
from windlass.worker._once import run_once
from windlass.worker._registration import Session
from windlass.worker._runner import RunnerFailed
from windlass.worker._settings import Settings
from windlass.worker._system_info import MIB
from windlass.worker._tls import create_ssl_context, require_readable
from windlass.worker._tracing import require_packages
from windlass.worker._worker import Worker

log = logging.getLogger("windlass.worker")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    arguments = create_parser().parse_args(argv)
    try:
        settings = read_settings(arguments, os.environ)
        if arguments.command == "check":
            return check_settings(settings)
        configure(settings.log_level, settings.log_format)
        create_ssl_context(settings)
        require_packages(settings)
        if settings.metrics_provider is not None:
            sys.path[:0] = settings.path
            load_provider(settings.metrics_provider)
        if settings.codec is not None:
            sys.path[:0] = settings.path
            load_codec(settings.codec)
        if settings.once is not None:
            return run_once(replace(settings, bootstrap_token=read_token(arguments, os.environ)))
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
    forbid_inspection()
    if registered is None:
        log.info("stopped")
        return 0
    with asyncio.Runner(loop_factory=find_fast_loop()) as runner:
        return runner.run(_run_worker(*registered))


def check_settings(settings: Settings) -> int:
    """Checks what needs neither a server nor the user's modules. Raises UsageError or OSError."""
    require_readable(settings, "bootstrap_token_file")
    create_ssl_context(settings)
    require_packages(settings)
    return 0


def find_fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Returns the event loop of uvloop where it is installed; None for the one of asyncio.

    Workflows run in loops of their own, which stay those of asyncio.
    """
    try:
        uvloop = importlib.import_module("uvloop")
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def read_settings(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Settings:
    """Returns the settings from arguments and environment. Raises UsageError."""
    resolve_options(arguments, environment)
    has_source = arguments.bootstrap_token or arguments.bootstrap_token_file
    if not has_source and arguments.bootstrap_token_fd is None and arguments.command != "check":
        read_token(arguments, environment)
    server_url = arguments.server_url.rstrip("/")
    try:
        require_encryption(server_url, is_insecure_allowed=arguments.insecure)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if (arguments.client_cert is None) != (arguments.client_key is None):
        raise UsageError("--client-cert and --client-key must be given together")
    if arguments.source is not None and arguments.once is None:
        raise UsageError("--source needs --once")
    return Settings(
        name=arguments.name or f"worker-{secrets.token_hex(3)}",
        server_url=server_url,
        bootstrap_token_file=arguments.bootstrap_token_file,
        labels=dict(arguments.label),
        max_concurrent_executions=arguments.max_concurrent,
        park_after_s=arguments.park_after,
        drain_timeout_s=arguments.drain_timeout,
        stream_idle_s=arguments.stream_idle_timeout,
        ca_file=arguments.ca_file,
        client_cert=arguments.client_cert,
        client_key=arguments.client_key,
        proxy=arguments.proxy,
        children=arguments.children,
        task_processes=arguments.task_processes,
        max_executions_per_child=arguments.max_executions_per_child,
        max_child_memory_bytes=arguments.max_child_memory * MIB,
        pass_env=tuple(arguments.pass_env),
        path=tuple(arguments.path),
        preload=tuple(arguments.preload),
        interceptors=tuple(arguments.interceptor),
        log_level=arguments.log_level,
        log_format=arguments.log_format,
        capture_logs=not arguments.no_capture_logs,
        health_host=arguments.health_host,
        health_port=arguments.health_port,
        metrics_provider=arguments.metrics_provider,
        codec=arguments.codec,
        once=arguments.once,
        source=arguments.source and os.path.abspath(arguments.source),
        otlp_endpoint=arguments.otlp_endpoint,
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
    except RunnerFailed as error:
        print(f"windlass worker: {error}", file=sys.stderr)  # noqa: T201
        return 2
    log.info("stopped")
    if worker.left_code_running:
        # A thread in user code cannot be stopped, and the interpreter would wait for it at exit.
        _exit(0)
    return 0


def _exit(code: int) -> None:
    logging.shutdown()
    os._exit(code)
