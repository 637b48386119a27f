"""Command line of `windlass-check`."""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import itertools
import json
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from importlib.abc import SourceLoader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from windlass._codec_reference import create_codec
from windlass._payloads import Payloads
from windlass._sources import list_workflows
from windlass.check._lint import lint
from windlass.errors import PayloadCodecError
from windlass.testing._comparison import ReplayReport, compare
from windlass.workflow import Workflow

if TYPE_CHECKING:
    from windlass.client import ExecutionRow

UNFINISHED = (
    "PAUSED",
    "SCHEDULED",
    "CLAIMED",
    "RUNNING",
    "RESUMING",
    "RESUME_SCHEDULED",
    "RESUME_CLAIMED",
)
NEWEST = 1000
PAGE = 100
RETRY_FOR_S = 10.0
TOKEN_VARIABLE = "WINDLASS_TOKEN"

_VERDICTS = {"same": "same", "waiting": "waiting at the same place", "different": "different"}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command. Returns 0, 1 for differences or findings, 2 if it could not check."""
    arguments = create_parser().parse_args(argv)
    if not (arguments.server or arguments.exported or arguments.lint):
        return _fail("nothing to check: pass --server URL, --exported FILE or --lint")
    try:
        return asyncio.run(_check(arguments))
    except KeyboardInterrupt:
        return 130
    except PayloadCodecError as error:
        hint = "" if arguments.codec else "; name it with --codec MODULE:FUNCTION"
        return _fail(f"{error}{hint}")
    except (OSError, ValueError, SyntaxError) as error:
        return _fail(str(error))


def create_parser() -> argparse.ArgumentParser:
    """Creates the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="windlass-check",
        description="replays executions against a changed source, without running anything new",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="source with workflows")
    parser.add_argument("--server", metavar="URL", help="checks its unfinished executions")
    parser.add_argument(
        "--token", metavar="TOKEN", help=f"API key; better in the variable {TOKEN_VARIABLE}"
    )
    parser.add_argument("--ca-file", metavar="PATH", help="authority of the server (PEM)")
    parser.add_argument(
        "--insecure", action="store_true", help="send the token unencrypted to another host"
    )
    parser.add_argument(
        "--execution", action="append", default=[], metavar="ID", help="only this one; repeatable"
    )
    parser.add_argument(
        "--exported", action="append", default=[], type=Path, metavar="FILE", help="repeatable"
    )
    parser.add_argument(
        "--limit", type=_count, default=NEWEST, metavar="N", help=f"newest N; default: {NEWEST}"
    )
    parser.add_argument(
        "--codec",
        metavar="MODULE:FUNCTION",
        help="function that creates the codec of payloads, as for the worker",
    )
    parser.add_argument(
        "--path",
        action="append",
        default=[],
        metavar="FOLDER",
        help="folder in which the source and the codec find modules; repeatable",
    )
    parser.add_argument("--lint", action="store_true", help="look for nondeterministic code")
    return parser


async def _check(arguments: argparse.Namespace) -> int:
    findings = await asyncio.to_thread(lint, arguments.file) if arguments.lint else []
    for finding in findings:
        _print(str(finding))
    if not (arguments.server or arguments.exported):
        return 1 if findings else 0
    sys.path[:0] = arguments.path
    payloads = Payloads(create_codec(arguments.codec) if arguments.codec else None)
    try:
        module = await asyncio.to_thread(load_file, arguments.file)
    except Exception as error:
        return _fail(f"{arguments.file} cannot be imported: {type(error).__name__}: {error}")
    workflows = {workflow.qualified_name: workflow for workflow in list_workflows(module)}
    if not workflows:
        return _fail(f"{arguments.file} defines no workflow")
    verdicts: Counter[str] = Counter()
    async for exported in _read_executions(arguments, list(workflows.values()), payloads):
        report = await _compare(workflows, exported)
        verdicts[report.verdict] += 1
        _print(
            "  ".join([report.workflow, report.execution_id, f"{report.state:9}", report.message])
        )
    counts = ", ".join(f"{verdicts[key]} {text}" for key, text in _VERDICTS.items())
    total = verdicts.total()
    _print(f"{total} execution{'' if total == 1 else 's'}: {counts}")
    return 1 if findings or verdicts["different"] else 0


async def _compare(
    workflows: Mapping[str, Workflow[Any, Any]], exported: Mapping[str, Any]
) -> ReplayReport:
    namespace = exported.get("workflow_namespace") or "default"
    name = f"{namespace}/{exported.get('workflow_name')}"
    workflow = workflows.get(name)
    if workflow is not None:
        return await compare(workflow, exported)
    execution_id, state = str(exported.get("execution_id")), str(exported.get("state"))
    message = "differs: the file does not define its workflow"
    return ReplayReport(execution_id, name, state, "different", None, message)


async def _read_executions(
    arguments: argparse.Namespace, workflows: Sequence[Workflow[Any, Any]], payloads: Payloads
) -> AsyncIterator[dict[str, Any]]:
    for path in arguments.exported:
        text = await asyncio.to_thread(path.read_text, "utf-8")
        # A handle exports decoded values; the API, the console and the CLI do not.
        yield payloads.unwrap_value(json.loads(text))
    if not arguments.server:
        return
    # Not needed without a server, and neither is the HTTP library.
    from windlass.client import AsyncClient, ClientError

    token = arguments.token or os.environ.get(TOKEN_VARIABLE)
    async with AsyncClient(
        arguments.server,
        token,
        retry_for=RETRY_FOR_S,
        ca_file=arguments.ca_file,
        insecure=arguments.insecure,
        codec=payloads.codec,
    ) as client:
        try:
            ids = arguments.execution or await _list_unfinished(client, workflows, arguments.limit)
            for execution_id in ids:
                yield await client.execution(execution_id).export()
        except ClientError as error:
            raise ValueError(str(error)) from error


async def _list_unfinished(
    client: Any, workflows: Sequence[Workflow[Any, Any]], limit: int
) -> list[str]:
    """Returns the ids of the newest unfinished executions of the workflows, newest first."""
    rows: list[ExecutionRow] = []
    for workflow, state in itertools.product(workflows, UNFINISHED):
        count = 0
        async for row in client.executions(workflow, state=state, page_size=min(PAGE, limit)):
            rows.append(row)
            count += 1
            if count == limit:
                break
    rows.sort(key=lambda row: row.created_at, reverse=True)
    # An execution that changes its state meanwhile may be in two lists.
    return list(dict.fromkeys(row.execution_id for row in rows))[:limit]


def load_file(path: Path) -> ModuleType:
    """Imports a file as a module, as a worker would: modules next to it are not found."""
    importlib.import_module("windlass.compat")

    spec = importlib.util.spec_from_file_location("windlass_checked_source", path)
    if spec is None or not isinstance(spec.loader, SourceLoader):
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look up their module by name.
    sys.modules[spec.name] = module
    # From the text: stored bytecode of a source that was changed within a second to one of the same
    # length would count as that of the new one.
    exec(spec.loader.source_to_code(path.read_bytes(), str(path)), module.__dict__)
    return module


def _count(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer of 1 or more")
    return int(text)


def _print(text: str) -> None:
    print(text)  # noqa: T201


def _fail(message: str) -> int:
    print(f"windlass-check: {message}", file=sys.stderr)  # noqa: T201
    return 2
