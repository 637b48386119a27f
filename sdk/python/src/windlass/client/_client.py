"""Synchronous client of a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from windlass.client._async_client import PAGE, AsyncClient
from windlass.client._async_handle import AsyncHandle
from windlass.client._caller import Caller
from windlass.client._handle import Handle
from windlass.client._models import ExecutionRow, UploadedWorkflow
from windlass.client._schedules import Schedules
from windlass.client._targets import Target
from windlass.client._transport import RETRY_FOR_S, TIMEOUT_S
from windlass.codec import PayloadCodec
from windlass.workflow import Workflow

I = TypeVar("I")  # noqa: E741
O = TypeVar("O")  # noqa: E741


class Client:
    """Client of a server for synchronous code; arguments as those of AsyncClient.

    One client may be used by all threads; it has one connection pool. A call blocks its thread, so
    in asynchronous code AsyncClient is the better choice.
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
        self._caller = Caller(
            lambda: AsyncClient(
                base_url,
                token,
                timeout=timeout,
                retry_for=retry_for,
                ca_file=ca_file,
                insecure=insecure,
                codec=codec,
            )
        )
        self.schedules = Schedules(self._caller)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes all connections and ends the client's thread."""
        self._caller.close()

    @overload
    def start(
        self,
        workflow: Workflow[I, O],
        input: I | None = None,
        *,
        idempotency_key: str | None = None,
        version: int | None = None,
        priority: int | None = None,
    ) -> Handle[O]: ...
    @overload
    def start(
        self,
        workflow: str,
        input: Any = None,
        *,
        idempotency_key: str | None = None,
        version: int | None = None,
        priority: int | None = None,
    ) -> Handle[Any]: ...
    def start(
        self,
        workflow: Any,
        input: Any = None,
        *,
        idempotency_key: str | None = None,
        version: int | None = None,
        priority: int | None = None,
    ) -> Handle[Any]:
        """Starts an execution; see `AsyncClient.start`."""
        started: AsyncHandle[Any] = self._caller.call(
            lambda client: client.start(
                workflow,
                input,
                idempotency_key=idempotency_key,
                version=version,
                priority=priority,
            )
        )
        return self.execution(started.execution_id, workflow)

    @overload
    def run(
        self,
        workflow: Workflow[I, O],
        input: I | None = None,
        *,
        timeout: float | None = None,
        idempotency_key: str | None = None,
        version: int | None = None,
        priority: int | None = None,
    ) -> O: ...
    @overload
    def run(
        self,
        workflow: str,
        input: Any = None,
        *,
        timeout: float | None = None,
        idempotency_key: str | None = None,
        version: int | None = None,
        priority: int | None = None,
    ) -> Any: ...
    def run(
        self,
        workflow: Any,
        input: Any = None,
        *,
        timeout: float | None = None,
        idempotency_key: str | None = None,
        version: int | None = None,
        priority: int | None = None,
    ) -> Any:
        """Runs a workflow and returns its typed output; see `AsyncClient.run`."""
        return self._caller.call(
            lambda client: client.run(
                workflow,
                input,
                timeout=timeout,
                idempotency_key=idempotency_key,
                version=version,
                priority=priority,
            )
        )

    @overload
    def execution(self, execution_id: str, workflow: Workflow[I, O]) -> Handle[O]: ...
    @overload
    def execution(self, execution_id: str, workflow: Target | None = None) -> Handle[Any]: ...
    def execution(self, execution_id: str, workflow: Any = None) -> Handle[Any]:
        """Returns the handle of an execution; with the workflow, its result is typed."""
        return Handle(self._caller, execution_id, workflow)

    def executions(
        self,
        workflow: Target | None = None,
        *,
        namespace: str | None = None,
        state: str | None = None,
        page_size: int = PAGE,
    ) -> Iterator[ExecutionRow]:
        """Yields the executions, newest first; pages are read when they are needed."""
        return self._caller.iterate(
            lambda client: client.executions(
                workflow, namespace=namespace, state=state, page_size=page_size
            )
        )

    def upload(
        self, path: str | Path, *, dry_run: bool = False, if_changed: bool = False
    ) -> list[UploadedWorkflow]:
        """Uploads a Python file; see `AsyncClient.upload`."""
        return self._caller.call(
            lambda client: client.upload(path, dry_run=dry_run, if_changed=if_changed)
        )
