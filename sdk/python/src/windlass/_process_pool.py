"""Process pool: runs the functions of tasks with the option `process`.

Such a function has an interpreter of its own: it computes in parallel to other tasks, and when it
crashes, its attempt fails and nothing else. A timeout or a cancel kills its process.

Each thread of the pool owns one process, which it starts for its first call and again after each
end. The process is a new interpreter, not a fork: a fork of a process with threads can deadlock. It
gets the function by module and name, and a pickle of the arguments; it imports the uploaded source
again, once. What it sends while it runs (progress, heartbeats, printed and logged lines) is handled
in the thread, as if the function ran there.

Processes have a scrubbed environment, no argument or open file with a credential, and end with the
process that started them.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import Any, cast

from windlass._failures import restore_failure
from windlass._pickling import pickle_value
from windlass._run import Scope
from windlass._source_text import SOURCES
from windlass._trace import current_traceparent
from windlass.errors import ExecutionError, TaskProcessCrashed

END_TIMEOUT_S = 5.0


class ProcessPool:
    """At most `size` processes; further calls wait. Processes start when they are needed.

    `environment` are their variables, by default those of this process.
    """

    def __init__(
        self,
        size: int,
        *,
        environment: Mapping[str, str] | None = None,
        log_level: str | None = None,
        log_format: str = "text",
    ) -> None:
        self._environment = environment
        self._settings = {"log_level": log_level, "log_format": log_format}
        self.executor = ThreadPoolExecutor(size, thread_name_prefix="windlass-process")
        self._local = threading.local()
        self._lock = threading.Lock()
        self._processes: set[PoolProcess] = set()
        self._is_closed = False

    @property
    def processes(self) -> list[int]:
        """Ids of the processes that have not ended."""
        with self._lock:
            return [process.pid for process in self._processes if process.is_alive]

    def create_call(
        self,
        scope: Scope,
        func: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> ProcessCall:
        """Creates a call, whose `run` must be called in a thread of `executor`."""
        return ProcessCall(self, scope, func, args, kwargs)

    def find_process(self) -> PoolProcess:
        """Returns the process of the calling thread, a new one if it has ended."""
        process: PoolProcess | None = getattr(self._local, "process", None)
        if process is not None and process.is_alive:
            return process
        with self._lock:
            if self._is_closed:
                raise ExecutionError(message="the process pool is closed")
            if process is not None:
                self._processes.discard(process)
            self._local.process = process = PoolProcess(self._environment, self._settings)
            self._processes.add(process)
        return process

    def close(self) -> None:
        """Kills all processes and ends the threads."""
        with self._lock:
            self._is_closed = True
            processes = list(self._processes)
        for process in processes:
            process.kill()
        self.executor.shutdown(wait=True, cancel_futures=True)
        for process in processes:
            process.wait()


class PoolProcess:
    """One process of the pool. Only the thread that created it sends and receives."""

    def __init__(self, environment: Mapping[str, str] | None, settings: dict[str, Any]) -> None:
        own, other = socket.socketpair()
        members = {**settings, "parent": os.getpid(), "path": sys.path, "main": _main_path()}
        flags: list[str] = cast("Any", subprocess)._args_from_interpreter_flags()
        with other:
            self._process = subprocess.Popen(
                [sys.executable, *flags, "-m", "windlass._process_main", str(other.fileno())],
                stdin=subprocess.DEVNULL,
                env=environment,
                pass_fds=[other.fileno()],
            )
        self.connection = Connection(own.detach())
        with suppress(OSError):
            self.connection.send(members)

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """True until the process has ended."""
        return self._process.poll() is None

    def kill(self) -> None:
        """Kills the process."""
        self._process.kill()

    def wait(self) -> int:
        """Waits for the end, which has begun; returns the exit code, or minus the signal."""
        self.connection.close()
        try:
            return self._process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


class ProcessCall:
    """Call of a function in the pool. `run` blocks; `kill` may be called from any thread."""

    def __init__(
        self,
        pool: ProcessPool,
        scope: Scope,
        func: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> None:
        self._pool = pool
        self._scope = scope
        self._func = func
        self._args = tuple(args)
        self._kwargs = dict(kwargs)
        self._lock = threading.Lock()
        self._process: PoolProcess | None = None
        self._is_killed = False

    def kill(self) -> None:
        """Ends the call, and its process if it has begun."""
        with self._lock:
            self._is_killed = True
            if self._process is not None:
                self._process.kill()

    def run(self) -> Any:
        """Returns the result, or raises what the function raised.

        Raises TaskProcessCrashed if the process ends, and UnserializableError if an argument or the
        result has no pickle.
        """
        request = self._pickle_request()
        if self._scope.attempt.is_cancelled:
            return None
        process = self._pool.find_process()
        with self._lock:
            if self._is_killed:
                return None
            self._process = process
        try:
            process.connection.send_bytes(request)
            return self._receive(process.connection)
        except (EOFError, OSError):
            raise TaskProcessCrashed(_describe_end(process.wait())) from None
        finally:
            with self._lock:
                self._process = None

    def _receive(self, connection: Connection) -> Any:
        while True:
            kind, *members = pickle.loads(connection.recv_bytes())
            match kind:
                case "result":
                    return pickle.loads(members[0])
                case "failure":
                    raise restore_failure(members[0], getattr(self._func, "__globals__", {}))
                case "progress":
                    run, call_id = self._scope.run, self._scope.call_id
                    run.services.publish_progress(call_id, self._scope.task_name, members[0])
                case "heartbeat" if self._scope.attempt.heartbeat is not None:
                    self._scope.attempt.heartbeat(members[0])
                case "write" if self._scope.run.capture is not None:
                    self._scope.run.capture.write(self._scope, *members)
                case "log" if self._scope.run.capture is not None:
                    self._scope.run.capture.add(self._scope, *members)
                case _:
                    pass

    def _pickle_request(self) -> bytes:
        scope = self._scope
        context, attempt = scope.run.context, scope.attempt
        source = SOURCES.get(self._func.__module__)
        deadlines = [time for time in (attempt.deadline, scope.run.deadline) if time]
        request = {
            "module": self._func.__module__,
            "source": None if source is None else asdict(source),
            "function": self._func.__qualname__,
            "args": self._pickle_arguments(),
            "execution_id": context.execution_id,
            "workflow_name": context.workflow_name,
            "workflow_namespace": context.workflow_namespace,
            "call_id": scope.call_id,
            "task_name": scope.task_name,
            "attempt": attempt.number,
            "deadline": min(deadlines, default=None),
            "heartbeat_details": attempt.heartbeat_details,
            "is_sensitive": scope.is_sensitive,
            "captures": scope.run.capture is not None,
            "traceparent": current_traceparent.get(),
        }
        return pickle.dumps(request)

    def _pickle_arguments(self) -> bytes:
        try:
            return pickle.dumps((self._args, self._kwargs), pickle.HIGHEST_PROTOCOL)
        except Exception:
            named = [(_parameter_name(self._func, n), arg) for n, arg in enumerate(self._args)]
            for name, value in (*named, *self._kwargs.items()):
                pickle_value(value, f"the argument {name} of {self._scope.task_name}")
            raise


@lru_cache(1)
def _pool_of_process(_pid: int) -> ProcessPool:
    has_affinity = hasattr(os, "sched_getaffinity")
    return ProcessPool(len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1)


def default_pool() -> ProcessPool:
    """Returns the pool of runs outside a worker. A fork has one of its own."""
    return _pool_of_process(os.getpid())


def _main_path() -> str | None:
    """Returns the file of the script that runs here, whose tasks its module name does not find."""
    main = sys.modules.get("__main__")
    if main is None or getattr(main, "__spec__", None) is not None:
        return None
    return getattr(main, "__file__", None)


def _parameter_name(func: Callable[..., Any], position: int) -> str:
    code = func.__code__
    names = code.co_varnames[: code.co_argcount]
    return names[position] if position < len(names) else f"{position + 1}"


def _describe_end(code: int) -> str:
    if code >= 0:
        return f"the process of the task ended with the exit code {code}"
    try:
        return f"the process of the task was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"the process of the task was ended by signal {-code}"
