"""Server operations of a run: called in the user's thread, executed in the worker's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from windlass._backoff import backoff
from windlass._failures import decoded_failure
from windlass._json import encode
from windlass._narrow import is_object
from windlass._payloads import Payloads
from windlass._services import Approval, NestedRun
from windlass._trace import Trace
from windlass.errors import (
    ExecutionError,
    RecordedError,
    RequestRefusedError,
    TaskAuthorizationError,
    WorkflowNotFoundError,
)
from windlass.worker._api import CALL_WAIT_S, Api, Refused, Unavailable
from windlass.worker._confirmation import Confirmation
from windlass.worker._http import read_detail
from windlass.worker._progress_buffer import ProgressBuffer

T = TypeVar("T")

FIRST_DELAY_S = 1.0
MAX_DELAY_S = 30.0
# Bounds how long the server may be unavailable, not how long another workflow may take.
ATTEMPTS = 10
CALL_POLL_S = 0.5
# Longer than the interval in which the server repeats a cancel.
OWN_CANCEL_S = 30.0


class RunServices:
    """Services of one claimed execution. A refusal becomes the failure of the task that called."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        api: Api,
        progress: ProgressBuffer,
        execution_id: str,
        exec_token: str | None,
        confirmation: Confirmation,
        trace: Trace | None = None,
        payloads: Payloads | None = None,
    ) -> None:
        self._loop = loop
        self._api = api
        self._progress = progress
        self._execution_id = execution_id
        self._exec_token = exec_token
        self._confirmation = confirmation
        self.trace = trace
        self._payloads = payloads or Payloads(None)

    @property
    def park_after_s(self) -> float | None:
        """Longest wait for which the run is not parked; None if the server cannot park."""
        return self._api.park_after_s

    @property
    def authorizes_tasks(self) -> bool:
        """True if the server requires an authorization check before each task."""
        return self._api.authorizes_tasks

    async def fetch_secrets(
        self, names: Sequence[str], *, previous: bool = False
    ) -> dict[str, Any]:
        """Reads secrets through the worker's route, which checks the workflow's declarations."""
        return await self._call_api(
            lambda: self._api.fetch_secrets(self._execution_id, names, previous=previous)
        )

    async def fetch_configs(self, names: Sequence[str]) -> dict[str, Any]:
        """Reads configs through the administration route, for the workflow of this execution."""
        return await self._call_api(lambda: self._api.fetch_configs(self._execution_id, names))

    async def authorize_task(self, task_name: str) -> None:
        """Checks the task against the caller's permissions if the server requires it."""
        if not self.authorizes_tasks:
            return
        try:
            await self._call_with_token(
                lambda token: self._api.authorize_task(self._execution_id, task_name, token or "")
            )
        except ExecutionError as error:
            raise TaskAuthorizationError(message=str(error)) from error

    async def request_approval(self, call_id: str, task_name: str) -> str:
        """Requests approval of a call."""
        return await self._call_api(
            lambda: self._api.request_approval(self._execution_id, call_id, task_name)
        )

    async def find_approval(self, call_id: str) -> Approval | None:
        """Reads the approval of a call."""
        return await self._call_api(lambda: self._api.find_approval(self._execution_id, call_id))

    async def start_workflow(self, nested: NestedRun) -> str:
        """Starts a workflow."""
        summary = await self._request_run(nested, "async", {})
        return str(summary["execution_id"])

    async def run_workflow(self, nested: NestedRun, *, fails_if_paused: bool) -> Any:
        """Starts a workflow and polls until it has ended, or is paused."""
        query = {"timeout": f"{CALL_WAIT_S:g}"}
        if fails_if_paused:
            query["wait_for"] = "paused"
        while True:
            summary = await self._request_run(nested, "sync", query)
            state = summary["state"]
            if state == "COMPLETED":
                return self._payloads.unwrap_value(summary["output"])
            if state == "FAILED":
                raise _to_error(self._payloads.unwrap_value(summary["output"]))
            if state == "CANCELLED" and nested.on_cancel == "cancel":
                await self._await_own_cancel()
            if state == "CANCELLED" or (state == "PAUSED" and fails_if_paused):
                raise ExecutionError(message=f"the workflow {nested.target} is {state}")
            # The request waits on the server; this delay is for servers that answer at once.
            await asyncio.sleep(CALL_POLL_S)

    async def cancel_workflow(self, execution_id: str) -> None:
        """Cancels an execution that this one has started."""
        await self._call_api(lambda: self._api.cancel_workflow(self._execution_id, execution_id))

    async def _await_own_cancel(self) -> None:
        """Returns if this execution is not being cancelled.

        A cancel of this execution cancels the nested run too, and this worker may learn of the
        latter first. The workflow must not see it as a failure.
        """
        try:
            claim = await self._call_api(lambda: self._api.claim(self._execution_id))
        except RequestRefusedError:
            # This execution has ended or belongs to another worker; the next checkpoint shows it.
            await asyncio.sleep(OWN_CANCEL_S)
            return
        self._exec_token = claim.exec_token or self._exec_token
        if claim.context.state == "CANCELLING":
            await asyncio.sleep(OWN_CANCEL_S)

    async def _request_run(
        self, nested: NestedRun, mode: str, query: Mapping[str, str]
    ) -> dict[str, Any]:
        target = nested.target
        name = f"{quote(target.namespace, safe='')}/{quote(target.name, safe='')}"
        path = f"{name}/run/{mode}?{urlencode({**query, 'on_cancel': nested.on_cancel})}"
        body = self._payloads.wrap(encode(nested.input)).encode()
        return await self._call_with_token(
            lambda token: self._api.run_workflow(path, body, key=nested.key, token=token),
            missing=WorkflowNotFoundError(f"the workflow '{target}' does not exist"),
        )

    def publish_progress(self, call_id: str, task_name: str, value: Any) -> None:
        """Adds the progress to the buffer."""
        self._progress.add(call_id, task_name, value)

    async def _call_with_token(
        self, request: Callable[[str | None], Awaitable[T]], missing: Exception | None = None
    ) -> T:
        """Calls with the execution token; after a 401, claims again and retries with a new one."""

        async def request_with_renewal() -> T:
            try:
                return await request(self._exec_token)
            except Refused as refused:
                if refused.status != 401 or self._exec_token is None:
                    raise
            claim = await self._api.claim(self._execution_id)
            self._exec_token = claim.exec_token or self._exec_token
            return await request(self._exec_token)

        return await self._call_api(request_with_renewal, missing)

    async def _call_api(
        self, request: Callable[[], Awaitable[T]], missing: Exception | None = None
    ) -> T:
        async def request_when_claimed() -> T:
            # Others see the effect, so it must not come from a worker that has lost the execution.
            await self._confirmation.require()
            return await request()

        return await asyncio.wrap_future(
            asyncio.run_coroutine_threadsafe(_retry(request_when_claimed, missing), self._loop)
        )


async def _retry(request: Callable[[], Awaitable[T]], missing: Exception | None) -> T:
    delays = backoff(FIRST_DELAY_S, MAX_DELAY_S)
    for attempt in range(ATTEMPTS):
        try:
            return await request()
        except Refused as refused:
            if missing and refused.status == 404:
                raise missing from refused
            raise RequestRefusedError(message=read_detail(refused)) from refused
        except Unavailable as error:
            if attempt + 1 == ATTEMPTS:
                raise ExecutionError(message=f"the server is unavailable: {error}") from error
            await asyncio.sleep(next(delays))
    raise AssertionError("unreachable")


def _to_error(output: Any) -> ExecutionError:
    if is_object(output):
        output = decoded_failure(output)
    if is_object(output) and {"type", "message"} <= output.keys():
        return ExecutionError(RecordedError(str(output["type"]), str(output["message"]), output))
    return ExecutionError(message=str(output))
