"""Main program of a process of the pool: runs functions of tasks, one at a time.

    python -m windlass._process_main FD

It reads its settings and then requests from the file descriptor. `_process_pool` is the other end.
"""

from __future__ import annotations

import importlib
import io
import pickle
import runpy
import signal
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any, cast

from windlass import _capture, compat
from windlass._entry import Entry
from windlass._environment import Environment
from windlass._failures import describe_failure
from windlass._pickling import pickle_value
from windlass._run import Attempt, Run, Scope, current_scope
from windlass._source_text import SourceText, load_source, unload_source
from windlass._trace import current_traceparent
from windlass.domain.execution_context import ExecutionContext
from windlass.errors import ExecutionError
from windlass.task import Task
from windlass.worker._confine import end_with_parent, keep_from_forks, prefer_for_oom_kill
from windlass.worker._logging import configure

MAX_SOURCES = 16


def main(arguments: list[str]) -> int:
    """Runs functions until the other end is closed."""
    connection = Connection(int(arguments[0]))
    keep_from_forks(connection.fileno())
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True)
    # Neither the terminal's Ctrl-C nor a signal to the worker's group concerns this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        settings = connection.recv()
    except (EOFError, OSError):
        return 0
    end_with_parent(settings["parent"])
    prefer_for_oom_kill()
    if settings["log_level"] is not None:
        configure(settings["log_level"], settings["log_format"])
    sys.path[:] = settings["path"]
    compat.install()
    _capture.install()
    functions = Functions(settings["main"])
    while True:
        try:
            request = pickle.loads(connection.recv_bytes())
        except (EOFError, OSError):
            return 0
        _serve(connection, functions, request)


class Functions:
    """Functions of tasks by module and name. Imports modules and uploaded sources when needed."""

    def __init__(self, main_path: str | None) -> None:
        self._main_path = main_path
        self._main: ModuleType | None = None
        self._sources: OrderedDict[str, ModuleType] = OrderedDict()

    def find(self, module: str, source: Mapping[str, str] | None, name: str) -> Callable[..., Any]:
        """Returns a function. Raises any exception of the import."""
        found: Any = self._load(module, source)
        for part in name.split("."):
            # Not getattr: it would bind methods.
            found = cast("Any", vars(found)[part])
        if isinstance(found, Task):
            return found.func
        function: Callable[..., Any] = getattr(found, "__func__", found)
        return function

    def _load(self, name: str, source: Mapping[str, str] | None) -> ModuleType:
        if source is not None:
            return self._load_source(SourceText(**source))
        if name == "__main__":
            return self._load_main()
        return importlib.import_module(name)

    def _load_source(self, source: SourceText) -> ModuleType:
        module = self._sources.get(source.module)
        if module is None:
            module = self._sources[source.module] = load_source(source)
            if len(self._sources) > MAX_SOURCES:
                unload_source(self._sources.popitem(last=False)[1])
        self._sources.move_to_end(source.module)
        return module

    def _load_main(self) -> ModuleType:
        """Imports the script, under another name so that its main part does not run."""
        if self._main is None:
            if self._main_path is None:
                raise ImportError("a task with process=True must be in a file, not in a notebook")
            self._main = ModuleType("__mp_main__")
            vars(self._main).update(runpy.run_path(self._main_path, run_name="__mp_main__"))
            sys.modules["__main__"] = sys.modules["__mp_main__"] = self._main
        return self._main


def _serve(connection: Connection, functions: Functions, request: dict[str, Any]) -> None:
    def send(*message: Any) -> None:
        connection.send_bytes(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))

    try:
        func = functions.find(request["module"], request["source"], request["function"])
        args, kwargs = pickle.loads(request["args"])
        scope_token = current_scope.set(_create_scope(request, send))
        trace_token = current_traceparent.set(request["traceparent"])
        try:
            result = func(*args, **kwargs)
        finally:
            current_scope.reset(scope_token)
            current_traceparent.reset(trace_token)
        pickled = pickle_value(result, f"the result of {request['task_name']}")
    except BaseException as error:
        if isinstance(error, SystemExit | KeyboardInterrupt):
            error = ExecutionError(error, f"user code raised {type(error).__name__}")
        send("failure", describe_failure(error))
    else:
        send("result", pickled)


def _create_scope(request: Mapping[str, Any], send: Callable[..., None]) -> Scope:
    context: ExecutionContext[Any] = ExecutionContext(
        execution_id=request["execution_id"],
        workflow_name=request["workflow_name"],
        workflow_namespace=request["workflow_namespace"],
    )
    environment = Environment(on_call=_refuse_call)
    services: Any = _ProgressOnly(send)
    run = Run(context, _NoJournal(), services, environment=environment)
    if request["captures"]:
        run.capture = _Forwarder(send)
    attempt = Attempt(
        request["attempt"],
        request["deadline"],
        heartbeat=lambda details: send("heartbeat", details),
        heartbeat_details=request["heartbeat_details"],
    )
    return Scope(
        run=run,
        call_id=request["call_id"],
        task_name=request["task_name"],
        attempt=attempt,
        is_sensitive=request["is_sensitive"],
    )


def _refuse_call(*_: object) -> None:
    raise ExecutionError(message="a task with process=True cannot call other tasks")


class _NoJournal:
    """Journal of a process that records nothing."""

    def record(self, entry: Entry) -> None:
        _refuse_call()

    async def wait_for_capacity(self) -> None: ...

    async def wait_until_stored(self) -> None: ...


class _ProgressOnly:
    """Services of a process that can only report progress."""

    def __init__(self, send: Callable[..., None]) -> None:
        self._send = send

    def __getattr__(self, name: str) -> Any:
        _refuse_call()

    def publish_progress(self, call_id: str, task_name: str, value: Any) -> None:
        self._send("progress", value)


class _Forwarder:
    """Sends what the function writes; the other end bounds and masks it."""

    def __init__(self, send: Callable[..., None]) -> None:
        self._send = send

    def hide(self, values: Iterable[Any]) -> None: ...

    def write(self, scope: Scope, stream: str, level: int, text: str) -> None:
        self._send("write", stream, level, text)

    def add(self, scope: Scope, logger: str, level: int, message: str, seconds: float) -> None:
        self._send("log", logger, level, message, seconds)

    def end(self) -> None: ...


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
