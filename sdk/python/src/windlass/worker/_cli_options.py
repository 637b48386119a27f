"""Options of the worker: from the command line, else the environment, else `svc.toml`."""

from __future__ import annotations

import argparse
import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from windlass._narrow import is_list, is_object
from windlass.worker._bootstrap import TOKEN_VARIABLE, UsageError
from windlass.worker._system_info import processors

DEFAULT_SERVER_URL = "http://localhost:8000"
MAX_DEFAULT_CHILDREN = 4
MAX_PORT = 65_535

PREFIX = "SVC_WORKER__"
# Older names of variables.
_ALIASES = {"server_url": "SVC_WORKERS__SERVER_URL"}


def count(text: str) -> int:
    """Parses an integer of at least 0."""
    if not text.isascii() or not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer of 0 or more")
    return int(text)


def positive(text: str) -> int:
    """Parses an integer of at least 1."""
    number = count(text)
    if number == 0:
        raise argparse.ArgumentTypeError("the number must be at least 1")
    return number


def tcp_port(text: str) -> int:
    """Parses a port; 0 lets the system choose one."""
    port = count(text)
    if port > MAX_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to {MAX_PORT}")
    return port


def duration(text: str) -> float:
    """Parses a number of seconds of at least 0."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds, 0 or more")
    return seconds


def timeout(text: str) -> float:
    """Parses a number of seconds above 0."""
    seconds = duration(text)
    if seconds == 0:
        raise argparse.ArgumentTypeError("the timeout must be above 0 seconds")
    return seconds


def label(text: str) -> tuple[str, str]:
    """Parses `key=value`."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"the label {text!r} is not of the form key=value")
    return key, value


def execution_id(text: str) -> str:
    """Parses the id of an execution: 32 hex digits, with or without hyphens."""
    digits = text.replace("-", "").lower()
    if len(digits) != 32 or not set(digits) <= set("0123456789abcdef"):
        raise argparse.ArgumentTypeError(f"{text!r} is not the id of an execution")
    return digits


def one_of(*choices: str) -> Callable[[str], str]:
    """Returns a parser that accepts these words."""

    def parse(text: str) -> str:
        if text not in choices:
            raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(choices)}")
        return text

    return parse


def switch(text: str) -> bool:
    """Parses `true` or `false`."""
    if text.lower() not in {"true", "false"}:
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return text.lower() == "true"


@dataclass(frozen=True, slots=True)
class Option:
    """One option: `--name`, `SVC_WORKER__NAME`, `[svc.worker].name`."""

    name: str
    help: str
    metavar: str = "VALUE"
    parse: Callable[[str], Any] = str
    default: Any = None
    # May be repeated; in the environment, values are separated by commas.
    is_list: bool = False
    # Only on the command line: it holds a credential, or is valid for this start only.
    is_local: bool = False

    @property
    def flag(self) -> str:
        """The option on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """The variable of the environment."""
        return PREFIX + self.name.upper()


OPTIONS = (
    Option("server_url", f"default: {DEFAULT_SERVER_URL}", "URL", default=DEFAULT_SERVER_URL),
    Option(
        "insecure",
        "allow plain HTTP to another host: tokens and payloads travel unencrypted",
        parse=switch,
        default=False,
    ),
    Option("ca_file", "authority of the server's certificate (PEM)", "PATH"),
    Option("client_cert", "client certificate (PEM), with --client-key", "PATH"),
    Option("client_key", "key of the client certificate (PEM)", "PATH"),
    Option("proxy", "HTTP proxy on the way to the server", "URL"),
    Option("name", "name of the worker; default: worker- and six hex digits", "NAME"),
    Option("label", "label that workflows may require", "KEY=VALUE", label, is_list=True),
    Option("max_concurrent", "executions at a time; 0: no limit; default: 100", "N", count, 100),
    Option(
        "children",
        "processes that run workflows; 0: a thread of the worker instead; "
        f"default: the number of processors, at most {MAX_DEFAULT_CHILDREN}",
        "N",
        count,
    ),
    Option(
        "task_processes",
        "processes of each child for tasks with process=True; default: the number of processors",
        "N",
        positive,
    ),
    Option(
        "max_executions_per_child",
        "executions after which a process is replaced; 0, the default: no limit",
        "N",
        count,
        0,
    ),
    Option(
        "max_child_memory",
        "memory above which a process is replaced, and above twice of which it is killed; "
        "0, the default: no limit",
        "MIB",
        count,
        0,
    ),
    Option(
        "pass_env",
        "variable, or pattern of variables, that workflows may read",
        "NAME",
        is_list=True,
    ),
    Option("path", "folder in which workflows find modules", "FOLDER", is_list=True),
    Option("preload", "module to import before processes start", "MODULE", is_list=True),
    Option(
        "interceptor",
        "asynchronous function around each attempt of a task and each body of a workflow",
        "MODULE:FUNCTION",
        is_list=True,
    ),
    Option(
        "bootstrap_token",
        f"token with which the worker registers; also read from {TOKEN_VARIABLE}",
        "TOKEN",
        is_local=True,
    ),
    Option("bootstrap_token_file", "file that holds the bootstrap token", "PATH"),
    Option(
        "bootstrap_token_fd",
        "inherited file descriptor from which the bootstrap token is read; closed afterwards",
        "N",
        count,
        is_local=True,
    ),
    Option(
        "park_after",
        "an execution that only waits is parked after this time; default: 5",
        "SECONDS",
        duration,
        5.0,
    ),
    Option(
        "drain_timeout",
        "time for running executions after SIGTERM; default: 25",
        "SECONDS",
        duration,
        25.0,
    ),
    Option(
        "stream_idle_timeout",
        "time without a frame after which the worker connects again; default: 60",
        "SECONDS",
        timeout,
        60.0,
    ),
    Option(
        "log_level",
        "debug, info (the default), warning or error",
        "LEVEL",
        one_of("debug", "info", "warning", "error"),
        "info",
    ),
    Option(
        "no_capture_logs",
        "do not send what workflows write to the server, which otherwise stores it",
        parse=switch,
        default=False,
    ),
    Option("health_port", "port of /live, /ready and /metrics; default: none", "PORT", tcp_port),
    Option(
        "health_host",
        "address of the health port; default: 127.0.0.1",
        "HOST",
        default="127.0.0.1",
    ),
    Option(
        "otlp_endpoint",
        "receiver of traces by OTLP/HTTP, without /v1/traces; needs windlass[otel]; default: none",
        "URL",
    ),
    Option(
        "metrics_provider",
        "function that returns metrics for the server, called every ten seconds",
        "MODULE:FUNCTION",
    ),
    Option(
        "codec",
        "function that creates the codec of payloads, which the server then cannot read",
        "MODULE:FUNCTION",
    ),
    Option(
        "once",
        "run only this execution, in the main thread, then end: for a debugger",
        "ID",
        execution_id,
        is_local=True,
    ),
    Option(
        "source",
        "with --once: file with the text of the uploaded source, for breakpoints",
        "FILE",
        is_local=True,
    ),
    Option("log_format", "text (the default) or json", "FORMAT", one_of("text", "json"), "text"),
)


class OneLineParser(argparse.ArgumentParser):
    """Parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Prints the message and exits with 2."""
        self.exit(2, f"windlass worker: {message}\n")


def create_parser() -> argparse.ArgumentParser:
    """Creates the parser of the command line. Options that are not given are None."""
    parser = OneLineParser(prog="windlass worker")
    commands = parser.add_subparsers(
        required=True, metavar="command", dest="command", parser_class=OneLineParser
    )
    start = commands.add_parser("start", help="run workflows until SIGTERM or SIGINT")
    check = commands.add_parser("check", help="check the settings, without a server, and end")
    for option in OPTIONS:
        check.set_defaults(**{option.name: None})
        if option.parse is switch:
            start.add_argument(option.flag, action="store_const", const=True, help=option.help)
        else:
            start.add_argument(
                option.flag,
                action="append" if option.is_list else "store",
                type=option.parse,
                metavar=option.metavar,
                help=option.help,
            )
    return parser


def resolve_options(arguments: argparse.Namespace, environment: Mapping[str, str]) -> None:
    """Fills in the options that the command line does not name. Raises UsageError."""
    table = _read_table(environment)
    known = {option.name for option in OPTIONS if not option.is_local}
    for name in table.keys() - known:
        raise UsageError(f"[svc.worker].{name} is not an option of the worker")
    variables = {option.variable for option in OPTIONS if not option.is_local}
    for name in environment:
        if name.upper().startswith(PREFIX) and name.upper() not in variables:
            raise UsageError(f"{name} is not an option of the worker")
    for option in OPTIONS:
        if getattr(arguments, option.name) is None:
            setattr(arguments, option.name, _find_value(option, environment, table))
    if arguments.children is None:
        arguments.children = max(1, min(int(processors()), MAX_DEFAULT_CHILDREN))
    if arguments.task_processes is None:
        arguments.task_processes = max(1, int(processors()))


def _find_value(option: Option, environment: Mapping[str, str], table: Mapping[str, Any]) -> Any:
    if option.is_local:
        return option.default
    for variable in (option.variable, _ALIASES.get(option.name, "")):
        if text := environment.get(variable):
            parts = [part.strip() for part in text.split(",")] if option.is_list else [text]
            return _parse(option, variable, parts)
    if option.name in table:
        value = table[option.name]
        items = value if is_list(value) else [value]
        return _parse(option, f"[svc.worker].{option.name}", [_to_text(item) for item in items])
    return [] if option.is_list else option.default


def _parse(option: Option, place: str, parts: list[str]) -> Any:
    try:
        values = [option.parse(part) for part in parts]
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"{place}: {error}") from error
    if option.is_list:
        return values
    if len(values) != 1:
        raise UsageError(f"{place} must be one value, not {len(values)}")
    return values[0]


def _to_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read_table(environment: Mapping[str, str]) -> Mapping[str, Any]:
    """Returns the table `[svc.worker]` of the file that the services read too."""
    path = Path(environment.get("SVC_CONFIG") or "svc.toml")
    if not path.exists() and not environment.get("SVC_CONFIG"):
        return {}
    try:
        tables = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    table: Any = tables.get("svc", {}).get("worker", {})
    if not is_object(table):
        raise UsageError("[svc.worker] must be a table")
    return table
