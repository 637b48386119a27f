"""Handle of one execution, for synchronous code."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from windlass.client._async_client import AsyncClient
from windlass.client._async_handle import AsyncHandle
from windlass.client._caller import Caller
from windlass.client._models import LogLine
from windlass.client._targets import Target
from windlass.domain.events import ExecutionEvent

O_co = TypeVar("O_co", covariant=True)
T = TypeVar("T")


class Handle(Generic[O_co]):
    """Execution on the server; methods as those of AsyncHandle."""

    def __init__(self, caller: Caller, execution_id: str, workflow: Target | None) -> None:
        self.execution_id = execution_id
        self._caller = caller
        self._workflow = workflow

    def __repr__(self) -> str:
        return f"Handle({self.execution_id!r})"

    def result(self, timeout: float | None = None, *, wait_paused: bool = True) -> O_co:
        """Waits for the end; returns the typed output or raises; see `AsyncHandle.result`."""
        result = self._call(lambda handle: handle.result(timeout, wait_paused=wait_paused))
        return cast("O_co", result)

    def state(self) -> str:
        """Returns the state, such as `"RUNNING"`."""
        return self._call(lambda handle: handle.state())

    def events(self) -> list[ExecutionEvent]:
        """Returns the events of the log so far, oldest first."""
        return self._call(lambda handle: handle.events())

    def stream(self) -> Iterator[ExecutionEvent]:
        """Yields the events from the first one to the end, as they happen, with progress."""
        return self._caller.iterate(lambda client: self._on(client).stream())

    def logs(
        self, *, after: int = 0, level: str = "debug", task_id: str | None = None
    ) -> Iterator[LogLine]:
        """Yields what the code has written so far; see `AsyncHandle.logs`."""
        return self._caller.iterate(
            lambda client: self._on(client).logs(after=after, level=level, task_id=task_id)
        )

    def resume(self, body: Any = None) -> None:
        """Resumes the paused execution with a body; see `AsyncHandle.resume`."""
        self._call(lambda handle: handle.resume(body))

    def cancel(self) -> None:
        """Requests the cancellation of the execution."""
        self._call(lambda handle: handle.cancel())

    def approve(
        self, reason: str | None = None, *, call_id: str | None = None, always: bool = False
    ) -> None:
        """Approves a call; see `AsyncHandle.approve`."""
        self._call(lambda handle: handle.approve(reason, call_id=call_id, always=always))

    def reject(self, reason: str | None = None, *, call_id: str | None = None) -> None:
        """Rejects a call; see `AsyncHandle.reject`."""
        self._call(lambda handle: handle.reject(reason, call_id=call_id))

    def export(self, path: str | Path | None = None) -> dict[str, Any]:
        """Returns the execution with its log, and writes it to a file if a path is given."""
        return self._call(lambda handle: handle.export(path))

    def _call(self, func: Callable[[AsyncHandle[Any]], Coroutine[Any, Any, T]]) -> T:
        return self._caller.call(lambda client: func(self._on(client)))

    def _on(self, client: AsyncClient) -> AsyncHandle[Any]:
        return client.execution(self.execution_id, self._workflow)
