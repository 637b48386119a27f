"""Services of a run in a child: requests to the worker, which holds the credentials."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from windlass import errors
from windlass._json import encode
from windlass._services import Approval, NestedRun
from windlass._trace import current_traceparent
from windlass.errors import ExecutionError, RecordedError, WorkflowNotFoundError
from windlass.worker._frames import FrameKind
from windlass.worker._progress_buffer import MAX_PENDING, encode_progress

Send = Callable[[FrameKind, bytes], None]


class ChildServices:
    """Services of one execution. Every call is one frame, and so is its answer."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, send: Send, *, authorizes_tasks: bool
    ) -> None:
        self._loop = loop
        self._send = send
        self._authorizes_tasks = authorizes_tasks
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._calls = 0
        self._thread = threading.get_ident()
        self._unsent_progress = 0

    async def fetch_secrets(
        self, names: Sequence[str], *, previous: bool = False
    ) -> dict[str, Any]:
        """Returns the values of secrets that the workflow declares."""
        values: dict[str, Any] = await self._call("fetch_secrets", list(names), previous)
        return values

    async def fetch_configs(self, names: Sequence[str]) -> dict[str, Any]:
        """Returns the values of configs."""
        values: dict[str, Any] = await self._call("fetch_configs", list(names))
        return values

    async def authorize_task(self, task_name: str) -> None:
        """Checks the task against the caller's permissions if the server requires it."""
        if self._authorizes_tasks:
            await self._call("authorize_task", task_name)

    async def request_approval(self, call_id: str, task_name: str) -> str:
        """Requests approval of a call."""
        return str(await self._call("request_approval", call_id, task_name))

    async def find_approval(self, call_id: str) -> Approval | None:
        """Reads the approval of a call."""
        found = await self._call("find_approval", call_id)
        return None if found is None else Approval(**found)

    async def start_workflow(self, nested: NestedRun) -> str:
        """Starts a workflow."""
        return str(await self._call("start_workflow", *_to_arguments(nested)))

    async def run_workflow(self, nested: NestedRun, *, fails_if_paused: bool) -> Any:
        """Starts a workflow and waits until it has ended, or is paused."""
        return await self._call("run_workflow", *_to_arguments(nested), fails_if_paused)

    async def cancel_workflow(self, execution_id: str) -> None:
        """Cancels an execution that this one has started."""
        await self._call("cancel_workflow", execution_id)

    def publish_progress(self, call_id: str, task_name: str, value: Any) -> None:
        """Sends progress; callable from any thread. Beyond a limit, it is dropped."""
        item = encode_progress(call_id, task_name, value)
        if item is None:
            return
        if threading.get_ident() == self._thread:
            self._send(FrameKind.PROGRESS, item.encode())
        elif self._unsent_progress < MAX_PENDING:
            self._unsent_progress += 1
            self._loop.call_soon_threadsafe(self._send_progress, item.encode())

    def on_answer(self, answer: Mapping[str, Any]) -> None:
        """Passes an answer to the call that awaits it."""
        future = self._answers.pop(answer["id"], None)
        if future is None or future.done():
            return
        if "error" in answer:
            future.set_exception(_to_error(answer["error"]))
        else:
            future.set_result(answer["result"])

    def _send_progress(self, item: bytes) -> None:
        self._unsent_progress -= 1
        self._send(FrameKind.PROGRESS, item)

    async def _call(self, method: str, *args: Any) -> Any:
        self._calls += 1
        number = self._calls
        members = {"id": number, "method": method, "args": args}
        request = encode({**members, "traceparent": current_traceparent.get()})
        future = self._answers[number] = self._loop.create_future()
        self._send(FrameKind.CALL, request.encode())
        try:
            return await future
        except asyncio.CancelledError:
            if self._answers.pop(number, None):
                self._send(FrameKind.DROP_CALL, str(number).encode())
            raise


def to_error_members(error: Exception) -> dict[str, Any]:
    """Returns an error of a service as the answer carries it."""
    inner = error.inner_exception if isinstance(error, ExecutionError) else None
    recorded = getattr(inner, "__windlass_failure__", None)
    return {"type": type(error).__name__, "message": str(error), "recorded": recorded}


def _to_error(members: Mapping[str, Any]) -> Exception:
    type_name, message, recorded = members["type"], members["message"], members.get("recorded")
    if recorded is not None:
        failure = (str(recorded.get("type")), str(recorded.get("message")))
        return ExecutionError(RecordedError(*failure, recorded))
    if type_name == WorkflowNotFoundError.__name__:
        return WorkflowNotFoundError(message)
    kind = getattr(errors, type_name, None)
    if isinstance(kind, type) and issubclass(kind, ExecutionError):
        return kind(message=message)
    return ExecutionError(message=message)


def _to_arguments(nested: NestedRun) -> list[Any]:
    target = nested.target
    return [target.namespace, target.name, nested.input, nested.key, nested.on_cancel]
