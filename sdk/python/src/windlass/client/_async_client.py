"""Asynchronous client of a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, cast, overload
from uuid import uuid4

import aiohttp

from windlass._json import encode
from windlass._payloads import Payloads
from windlass.client._async_handle import TERMINAL, AsyncHandle, limit_wait, workflow_path
from windlass.client._async_schedules import AsyncSchedules
from windlass.client._models import ExecutionRow, UploadedWorkflow
from windlass.client._targets import Target, to_names, to_run_query
from windlass.client._transport import RETRY_FOR_S, TIMEOUT_S, Transport, TransportOptions
from windlass.codec import PayloadCodec
from windlass.workflow import Workflow

I = TypeVar("I")  # noqa: E741
O = TypeVar("O")  # noqa: E741

PAGE = 100
# Duration of one request that waits for the end of an execution, in seconds.
WAIT_S = 20.0


class AsyncClient:
    """Client of a server, with one connection pool. All requests run in one event loop.

    Args:
        base_url: address of the server, such as `"https://windlass.example"`.
        token: API key or token, or a function that returns it for each request.
        timeout: seconds that one request may take.
        retry_for: seconds for which a request that is safe to repeat is repeated.
        ca_file: authority of the server's certificate (PEM).
        insecure: allows to send the token unencrypted to another host.
        codec: encodes inputs and bodies of resumes, and decodes what the workers have encoded.

    Raises ValueError for a token that would travel unencrypted to another host.
    """

    def __init__(
        self,
        base_url: str,
        token: str | Callable[[], str] | None = None,
        *,
        timeout: float = TIMEOUT_S,
        retry_for: float = RETRY_FOR_S,
        ca_file: str | None = None,
        insecure: bool = False,
        codec: PayloadCodec | None = None,
    ) -> None:
        options = TransportOptions(base_url, token, timeout, retry_for, ca_file, insecure)
        self._transport = Transport(options)
        self._payloads = Payloads(codec)
        self.schedules = AsyncSchedules(self._transport, self._payloads)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes all connections."""
        await self._transport.close()

    @overload
    async def start(
        self,
        workflow: Workflow[I, O],
        input: I | None = None,
        *,
        idempotency_key: str | None = None,
        version: int | None = None,
        priority: int | None = None,
    ) -> AsyncHandle[O]: ...
    @overload
    async def start(
        self,
        workflow: str,
        input: Any = None,
        *,
        idempotency_key: str | None = None,
        version: int | None = None,
        priority: int | None = None,
    ) -> AsyncHandle[Any]: ...
    async def start(
        self,
        workflow: Target,
        input: Any = None,
        *,
        idempotency_key: str | None = None,
        version: int | None = None,
        priority: int | None = None,
    ) -> AsyncHandle[Any]:
        """Starts an execution of a workflow, given as the object or as `"namespace/name"`.

        Every start has an idempotency key, so that a repeated request starts nothing twice; pass
        one of your own, such as an order number, to make that true of repeated calls for 24 hours.

        `priority` is the level in the queue, from 0 to 9; without one, that of the workflow or 5.
        Raises ValueError for another priority.
        """
        key = idempotency_key or uuid4().hex
        query = to_run_query(version, priority)
        answer = await self._run("async", workflow, input, key, query)
        return self.execution(answer["execution_id"], workflow)

    @overload
    async def run(
        self,
        workflow: Workflow[I, O],
        input: I | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109
        idempotency_key: str | None = None,
        version: int | None = None,
        priority: int | None = None,
    ) -> O: ...
    @overload
    async def run(
        self,
        workflow: str,
        input: Any = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109
        idempotency_key: str | None = None,
        version: int | None = None,
        priority: int | None = None,
    ) -> Any: ...
    async def run(
        self,
        workflow: Target,
        input: Any = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109
        idempotency_key: str | None = None,
        version: int | None = None,
        priority: int | None = None,
    ) -> Any:
        """Runs a workflow and returns its output as the type of its annotation.

        Raises the failure of the execution, ExecutionCancelledError, ExecutionPausedError when it
        is paused, or TimeoutError after `timeout` seconds, which does not end the execution.

        `priority` is as in `start`, but without any it is 6, because the caller waits.
        """
        key = idempotency_key or uuid4().hex
        query = to_run_query(version, priority) | {"wait_for": "paused", "timeout": WAIT_S}
        async with limit_wait(timeout, "the execution"):
            while True:
                answer = await self._run("sync", workflow, input, key, query)
                if answer["state"] in TERMINAL or answer["state"] == "PAUSED":
                    break
        handle = self.execution(answer["execution_id"], workflow)
        return await handle.to_result(answer)

    @overload
    def execution(self, execution_id: str, workflow: Workflow[I, O]) -> AsyncHandle[O]: ...
    @overload
    def execution(self, execution_id: str, workflow: Target | None = None) -> AsyncHandle[Any]: ...
    def execution(self, execution_id: str, workflow: Target | None = None) -> AsyncHandle[Any]:
        """Returns the handle of an execution; with the workflow, its result is typed."""
        if isinstance(workflow, Workflow):
            names = getattr(workflow.func, "__globals__", {})
            decode: Callable[[Any], Any] = workflow.decode_output
        else:
            names, decode = {}, _as_it_is
        return AsyncHandle(self._transport, self._payloads, execution_id, decode, names)

    async def executions(
        self,
        workflow: Target | None = None,
        *,
        namespace: str | None = None,
        state: str | None = None,
        page_size: int = PAGE,
    ) -> AsyncIterator[ExecutionRow]:
        """Yields the executions, newest first; pages are read when they are needed."""
        query: dict[str, Any] = {"limit": page_size, "offset": 0}
        if workflow is not None:
            query["namespace"], query["workflow_name"] = to_names(workflow)
        elif namespace is not None:
            query["namespace"] = namespace
        if state is not None:
            query["state"] = state
        seen: set[str] = set()
        while True:
            page = (await self._transport.request("GET", "/executions", query=query))["executions"]
            for members in page:
                # Executions that start meanwhile move older ones to the next page.
                if members["execution_id"] not in seen:
                    seen.add(members["execution_id"])
                    yield ExecutionRow.from_json(members)
            query["offset"] += len(page)
            if len(page) < page_size:
                return

    async def upload(
        self, path: str | Path, *, dry_run: bool = False, if_changed: bool = False
    ) -> list[UploadedWorkflow]:
        """Uploads a Python file; returns its workflows with their versions.

        With `dry_run` nothing is stored. With `if_changed` a workflow whose latest version came
        from the same file keeps its version. Raises InvalidRequestError with line and column.
        """
        source = await asyncio.to_thread(Path(path).read_bytes)

        def form() -> aiohttp.FormData:
            data = aiohttp.FormData()
            data.add_field("file", source, filename=Path(path).name)
            return data

        query = {"dry_run": dry_run, "if_changed": if_changed}
        rows = await self._transport.request(
            "POST", "/workflows", query=query, body=form, is_repeatable=dry_run, is_once=not dry_run
        )
        return [UploadedWorkflow.from_json(row) for row in rows]

    async def _run(
        self, mode: str, workflow: Target, input: Any, key: str, query: Mapping[str, Any]
    ) -> dict[str, Any]:
        answer = await self._transport.request(
            "POST",
            f"{workflow_path(*to_names(workflow))}/run/{mode}",
            query=query,
            text=self._payloads.wrap(encode(input)),
            headers={"Idempotency-Key": key},
            is_repeatable=True,
            more_time_s=WAIT_S if mode == "sync" else 0.0,
        )
        return cast("dict[str, Any]", answer)


def _as_it_is(value: Any) -> Any:
    return value
