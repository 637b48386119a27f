"""Checkpoints of several executions in one request.

A request costs the worker and the gateway more than the checkpoint in it: 0.2 CPU-ms each for HTTP,
and a wake-up of both processes. So checkpoints that become due while a request is in flight go
together in the next one (group commit, without a timer):

    checkpoint a  ->  [a] in flight  ----------------->  stored
    checkpoint b  --------->  queue: b
    checkpoint c  ------------->  queue: b, c
                                  [b, c] in flight  -->  stored, each with a result of its own

A checkpoint that comes alone is sent at once, in a request of its own. A request that is not
answered after LATE_S does not hold up the next one: one execution may wait for a lock, or a server
may hang. Every checkpoint is safe to repeat; its execution repeats it (_delivery.py), nothing here
does.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from windlass._json import encode, loads
from windlass._trace import current_traceparent
from windlass.worker._api import Refused, Unavailable
from windlass.worker._http import MAX_DETAIL, TEMPORARY, HttpResponse

# A larger body is sent alone: the result of another execution must not wait for its transfer.
MAX_BATCHED_BYTES = 64 * 1024
MAX_BATCH_BYTES = 512 * 1024
MAX_BATCH_SIZE = 64
LATE_S = 0.25
MAX_REQUESTS = 8

# Sends one checkpoint; raises Unavailable or Refused.
SendOne = Callable[[str, bytes, "str | None"], Awaitable[None]]
# Sends a batch; raises Unavailable, or Refused if the server refuses the whole batch.
SendBatch = Callable[[bytes], Awaitable[HttpResponse]]


@dataclass(slots=True, eq=False)
class _Pending:
    execution_id: str
    body: bytes
    generation: str
    # W3C `traceparent` of its run; None: it is not traced.
    traceparent: str | None
    stored: asyncio.Future[None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class CheckpointBatches:
    """Sends checkpoints, several in one request while others are in flight."""

    def __init__(self, send_one: SendOne, send_batch: SendBatch) -> None:
        self._send_one = send_one
        self._send_batch = send_batch
        self._queue: deque[_Pending] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        # Requests in flight, and those of them that are not late.
        self._requests = 0
        self._timely = 0

    async def send(self, execution_id: str, body: bytes, generation: str | None) -> None:
        """Sends a checkpoint and returns when it is stored; raises Unavailable or Refused."""
        if generation is None or len(body) > MAX_BATCHED_BYTES:
            await self._send_one(execution_id, body, generation)
        elif self._is_idle and not self._queue:
            with self._request():
                await self._send_one(execution_id, body, generation)
        else:
            pending = _Pending(execution_id, body, generation, current_traceparent.get())
            self._queue.append(pending)
            await pending.stored

    @property
    def _is_idle(self) -> bool:
        return self._timely == 0 and self._requests < MAX_REQUESTS

    def _start_next(self) -> None:
        """Starts the next request unless one in flight is timely."""
        if not self._is_idle:
            return
        if batch := self._take_batch():
            task = asyncio.get_running_loop().create_task(self._run(batch))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _take_batch(self) -> list[_Pending]:
        """Removes and returns the next checkpoints, at most one of each execution."""
        batch: list[_Pending] = []
        ids: set[str] = set()
        size = 0
        while self._queue and len(batch) < MAX_BATCH_SIZE:
            pending = self._queue[0]
            size += len(pending.body)
            if batch and (size > MAX_BATCH_BYTES or pending.execution_id in ids):
                break
            self._queue.popleft()
            # The execution may have been stopped or superseded meanwhile.
            if not pending.stored.done():
                batch.append(pending)
                ids.add(pending.execution_id)
        return batch

    async def _run(self, batch: list[_Pending]) -> None:
        # The context is that of the execution whose request has ended.
        current_traceparent.set(None)
        with self._request():
            if len(batch) == 1:
                await self._send_alone(batch[0])
            elif not await self._send_together(batch):
                await asyncio.gather(*map(self._send_alone, batch))

    async def _send_together(self, batch: list[_Pending]) -> bool:
        """Sends a batch and settles its checkpoints; false if the server refuses the whole batch.

        It does for a malformed checkpoint, and a replica of an earlier release lacks the route.
        """
        results: Sequence[Exception | None]
        try:
            results = _results_of(await self._send_batch(_body_of(batch)), len(batch))
        except Refused:
            return False
        except Exception as error:
            results = [error] * len(batch)
        for pending, result in zip(batch, results, strict=True):
            _settle(pending, result)
        return True

    async def _send_alone(self, pending: _Pending) -> None:
        current_traceparent.set(pending.traceparent)
        try:
            await self._send_one(pending.execution_id, pending.body, pending.generation)
        except Exception as error:
            _settle(pending, error)
        else:
            _settle(pending, None)

    @contextmanager
    def _request(self) -> Generator[None, None, None]:
        """Counts a request while it is in flight; its end starts the next one."""
        is_timely = True

        def on_late() -> None:
            nonlocal is_timely
            is_timely = False
            self._timely -= 1
            self._start_next()

        self._requests += 1
        self._timely += 1
        timer = asyncio.get_running_loop().call_later(LATE_S, on_late)
        try:
            yield
        finally:
            timer.cancel()
            self._requests -= 1
            self._timely -= is_timely
            self._start_next()


def _body_of(batch: list[_Pending]) -> bytes:
    return b"[%b]" % b",".join(map(_item_of, batch))


def _item_of(pending: _Pending) -> bytes:
    trace = b""
    if pending.traceparent is not None:
        trace = b',"traceparent":"%b"' % pending.traceparent.encode()
    generation = pending.generation.encode()
    return b'{"claim_generation":%b%b,"checkpoint":%b}' % (generation, trace, pending.body)


def _results_of(response: HttpResponse, count: int) -> list[Exception | None]:
    """Returns the error of each checkpoint, None for a stored one."""
    try:
        results = [_error_of(result["status"], result) for result in loads(response.body)]
    except (ValueError, KeyError, TypeError) as error:
        raise Unavailable(f"invalid answer to checkpoints: {error!r}") from error
    if len(results) != count:
        raise Unavailable(f"{len(results)} results for {count} checkpoints")
    return results


def _error_of(status: int, result: dict[str, Any]) -> Exception | None:
    if status >= 500 or status in TEMPORARY:
        return Unavailable(f"a checkpoint was answered {status}")
    if status >= 400:
        return Refused(status, encode({"detail": result.get("detail")})[:MAX_DETAIL])
    return None


def _settle(pending: _Pending, error: Exception | None) -> None:
    # Done if its execution has been stopped meanwhile.
    if pending.stored.done():
        return
    if error is None:
        pending.stored.set_result(None)
    else:
        pending.stored.set_exception(error)
