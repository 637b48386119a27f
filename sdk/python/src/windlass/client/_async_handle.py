"""Handle of one execution."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar
from urllib.parse import quote

from windlass._backoff import backoff
from windlass._failures import restore_failure
from windlass._json import encode
from windlass._narrow import is_object
from windlass._payloads import Payloads
from windlass._sse import Decoder
from windlass.client._errors import (
    ClientError,
    ExecutionCancelledError,
    ExecutionPausedError,
    UnavailableError,
)
from windlass.client._models import LogLine
from windlass.client._transport import FIRST_DELAY_S, MAX_DELAY_S, Transport
from windlass.domain.events import ExecutionEvent
from windlass.domain.events import ExecutionEventType as E

O_co = TypeVar("O_co", covariant=True)

LINES_PAGE = 500

TERMINAL = frozenset({"COMPLETED", "FAILED", "CANCELLED"})
_END = {E.WORKFLOW_COMPLETED, E.WORKFLOW_FAILED, E.WORKFLOW_CANCELLED}


@asynccontextmanager
async def limit_wait(timeout_s: float | None, what: str) -> AsyncGenerator[None, None]:
    """Bounds a wait for an execution. Raises TimeoutError, which says what has not ended."""
    limit = asyncio.timeout(timeout_s)
    try:
        async with limit:
            yield
    except TimeoutError:
        if not limit.expired():
            raise
        raise TimeoutError(f"{what} has not ended after {timeout_s} s; it continues") from None


class AsyncHandle(Generic[O_co]):
    """Execution on the server.

    Attributes:
        execution_id: id of the execution.
    """

    def __init__(
        self,
        transport: Transport,
        payloads: Payloads,
        execution_id: str,
        decode: Callable[[Any], O_co],
        names: dict[str, Any] | None = None,
    ) -> None:
        self.execution_id = execution_id
        self._transport = transport
        self._payloads = payloads
        self._decode = decode
        # Globals of the workflow's module: there, classes of its exceptions are looked up first.
        self._names = names or {}
        self._path: str | None = None

    def __repr__(self) -> str:
        return f"AsyncHandle({self.execution_id!r})"

    async def state(self) -> str:
        """Returns the state, such as `"RUNNING"`."""
        return str((await self._read())["state"])

    async def events(self) -> list[ExecutionEvent]:
        """Returns the events of the log so far, oldest first."""
        return [ExecutionEvent.from_wire(event) for event in (await self.export())["events"]]

    async def export(self, path: str | Path | None = None) -> dict[str, Any]:
        """Returns the execution with its log, for `replay` and `windlass-check`; all decoded.

        With `path`, the file is written as JSON.
        """
        exported: dict[str, Any] = self._payloads.unwrap_value(await self._read(detailed=True))
        if path is not None:
            text = json.dumps(exported, indent=2)
            await asyncio.to_thread(Path(path).write_text, text, "utf-8")
        return exported

    async def logs(
        self, *, after: int = 0, level: str = "debug", task_id: str | None = None
    ) -> AsyncIterator[LogLine]:
        """Yields what the code has written with `print` and `logging` so far, oldest first.

        Lines after the one with `seq` `after`, of at least a `level`, and with `task_id` of one
        call only. Pages are read when they are needed.
        """
        query: dict[str, Any] = {"after": after, "level": level, "limit": LINES_PAGE}
        if task_id is not None:
            query["task_id"] = task_id
        path = f"/executions/{self.execution_id}/logs"
        while True:
            page = await self._transport.request("GET", path, query=query)
            for members in page["lines"]:
                query["after"] = members["seq"]
                members["message"] = self._payloads.unwrap_message(members["message"])
                yield LogLine.from_json(members)
            if not page["more"]:
                return

    async def result(
        self,
        timeout: float | None = None,  # noqa: ASYNC109
        *,
        wait_paused: bool = True,
    ) -> O_co:
        """Waits for the end of the execution; returns the output as the type of its annotation.

        Raises the failure of the execution, ExecutionCancelledError, TimeoutError after `timeout`
        seconds, or, with `wait_paused=False`, ExecutionPausedError when it is paused.
        """
        async with limit_wait(timeout, f"the execution {self.execution_id}"):
            execution = await self._await_end(wait_paused)
        return await self.to_result(execution)

    async def stream(self) -> AsyncIterator[ExecutionEvent]:
        """Yields the events from the first one to the end, as they happen, with progress.

        A lost connection is opened again where it ended. Progress of that time is lost.
        """
        last_id = ""
        delays = backoff(FIRST_DELAY_S, MAX_DELAY_S)
        while True:
            with suppress(UnavailableError):
                async for frame_id, event in self._follow(last_id):
                    last_id, delays = frame_id or last_id, backoff(FIRST_DELAY_S, MAX_DELAY_S)
                    yield event
                    if event.type in _END:
                        return
            # Raises UnavailableError if the server does not answer either.
            await self.state()
            await asyncio.sleep(next(delays))

    async def resume(self, body: Any = None) -> None:
        """Resumes the paused execution with a body.

        Not repeated after 503 or a lost answer: the body could reach a later pause.
        """
        path = f"{await self._workflow_path()}/resume/{self.execution_id}/async"
        await self._transport.request(
            "POST", path, text=self._payloads.wrap(encode(body)), is_once=True
        )

    async def cancel(self) -> None:
        """Requests the cancellation of the execution."""
        path = f"{await self._workflow_path()}/cancel/{self.execution_id}"
        await self._transport.request("GET", path, query={"mode": "async"})

    async def approve(
        self, reason: str | None = None, *, call_id: str | None = None, always: bool = False
    ) -> None:
        """Approves a call; without `call_id` the only pending one.

        With `always`, later calls of the same task in this execution are approved too. Raises
        ValueError if none or several are pending.
        """
        await self._decide("approve", call_id, {"reason": reason, "always": always})

    async def reject(self, reason: str | None = None, *, call_id: str | None = None) -> None:
        """Rejects a call; without `call_id` the only pending one. Raises ValueError likewise."""
        await self._decide("reject", call_id, {"reason": reason})

    async def to_result(self, execution: dict[str, Any]) -> O_co:
        """Returns the output of an ended execution, given as the server's JSON, or raises."""
        output = self._payloads.unwrap_value(execution.get("output"))
        match execution["state"]:
            case "COMPLETED":
                return self._decode(output)
            case "FAILED":
                failure = output if is_object(output) else {"message": str(output)}
                error = restore_failure(failure, self._names)
                if failure.get("traceback"):
                    error.add_note(str(failure["traceback"]))
                raise error
            case "PAUSED":
                await self._raise_paused()
            case _:
                pass
        raise ExecutionCancelledError(self.execution_id)

    async def _await_end(self, wait_paused: bool) -> dict[str, Any]:
        execution = await self._read()
        if execution["state"] in TERMINAL:
            return execution
        if execution["state"] == "PAUSED" and not wait_paused:
            await self._raise_paused()
        async for event in self.stream():
            # An older pause is followed by other events; only the state says which it is.
            is_pause = event.type == E.WORKFLOW_PAUSED and not wait_paused
            if is_pause and await self.state() == "PAUSED":
                await self._raise_paused()
        return await self._read()

    async def _raise_paused(self) -> NoReturn:
        values = [event.value for event in await self.events() if event.type == E.WORKFLOW_PAUSED]
        last = values[-1] if values and is_object(values[-1]) else {}
        raise ExecutionPausedError(self.execution_id, last.get("name"), last.get("output"))

    async def _follow(self, last_id: str) -> AsyncIterator[tuple[str, ExecutionEvent]]:
        headers = {"Accept": "text/event-stream"}
        if last_id:
            headers["Last-Event-ID"] = last_id
        decoder = Decoder()
        path = f"/executions/{self.execution_id}/events"
        async with self._transport.stream(path, headers) as chunks:
            async for chunk in chunks:
                for frame in decoder.feed(chunk):
                    members: dict[str, Any] = json.loads(frame.data) if frame.data else {}
                    if "type" in members:
                        event = ExecutionEvent.from_wire(self._payloads.unwrap_value(members))
                        yield frame.id, event

    async def _decide(self, decision: str, call_id: str | None, body: dict[str, Any]) -> None:
        approvals = f"/executions/{self.execution_id}/approvals"
        if call_id is None:
            listed = await self._transport.request("GET", approvals)
            pending = [one for one in listed["approvals"] if one["status"] == "pending"]
            if len(pending) != 1:
                ids = [one["task_call_id"] for one in pending]
                raise ValueError(f"{len(ids)} approvals are pending; pass call_id: {ids}")
            call_id = str(pending[0]["task_call_id"])
        path = f"{approvals}/{quote(call_id, safe='')}/{decision}"
        await self._transport.request("POST", path, text=encode(body))

    async def _workflow_path(self) -> str:
        if self._path is None:
            await self._read()
        return self._path or ""

    async def _read(self, *, detailed: bool = False) -> dict[str, Any]:
        query = {"detailed": "true"} if detailed else None
        path = f"/executions/{self.execution_id}"
        answer = await self._transport.request("GET", path, query=query)
        if not is_object(answer) or "state" not in answer:
            raise ClientError(f"the answer to GET {path} is not an execution")
        self._path = workflow_path(answer["workflow_namespace"], answer["workflow_name"])
        return answer


def workflow_path(namespace: str, name: str) -> str:
    """Returns the path of a workflow's routes."""
    return f"/workflows/{quote(namespace, safe='')}/{quote(name, safe='')}"
