"""Codec of a worker: values are encoded on the way to the server, and decoded on the way back.

It belongs to the worker's own process, like its tokens: processes that run workflows get decoded
values and no keys.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from windlass._codec_reference import create_codec
from windlass._failures import describe_failure
from windlass._json import loads
from windlass._payloads import MARK, Payloads
from windlass.codec import PayloadCodec
from windlass.domain.events import ExecutionEventType as E
from windlass.domain.state import ExecutionState
from windlass.errors import PayloadCodecError
from windlass.worker._bootstrap import UsageError
from windlass.worker._checkpoint import Checkpoints
from windlass.worker._delta import Delta
from windlass.worker._models import Claim, parse_context

T = TypeVar("T")

# Longer texts are encoded in a thread: pongs must not wait.
MAX_IN_LOOP = 32 * 1024
PAUSE_NAME = "codec"


def load_codec(reference: str | None) -> PayloadCodec | None:
    """Creates the codec of the option, if there is one. Raises UsageError."""
    if reference is None:
        return None
    try:
        return create_codec(reference)
    except ValueError as error:
        raise UsageError(str(error)) from error


async def encode_delta(payloads: Payloads, delta: Delta) -> Delta:
    """Returns a delta with its values in envelopes. Raises PayloadCodecError."""
    if payloads.codec is None:
        return delta

    def encode() -> Delta:
        return replace(delta, events=tuple(map(payloads.wrap_event, delta.events)))

    return await _run(encode, sum(map(len, delta.events)))


async def decode_claim(payloads: Payloads, claim: Claim) -> Claim:
    """Returns a claim with the values of its envelopes. Raises PayloadCodecError."""
    if MARK not in claim.text:
        return claim

    def decode() -> Claim:
        text = payloads.unwrap(claim.text)
        return replace(claim, context=parse_context(loads(text)), text=text)

    return await _run(decode, len(claim.text))


def refuse_claim(
    claim: Claim, error: PayloadCodecError, worker_name: str, *, transient: bool
) -> bytes:
    """Returns the checkpoint of an execution whose values this worker cannot decode.

    It is paused, as another worker can continue it; a transient one fails, as it cannot pause.
    """
    checkpoints = Checkpoints(claim.context, worker_name)
    if transient:
        failure = describe_failure(error)
        return checkpoints.build_terminal(E.WORKFLOW_FAILED, failure, ExecutionState.FAILED)
    value = {"name": PAUSE_NAME, "output": {"message": str(error)}}
    return checkpoints.build_terminal(E.WORKFLOW_PAUSED, value, ExecutionState.PAUSED)


async def _run(func: Callable[[], T], size: int) -> T:
    return await asyncio.to_thread(func) if size > MAX_IN_LOOP else func()
