"""Non-deterministic values as tasks: each value is recorded and the same in every run."""

from __future__ import annotations

import random
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from windlass._options import TaskOptions
from windlass.task import Task


async def _now() -> datetime:
    """Returns the local time without a time zone."""
    return datetime.now()


async def _uuid4() -> uuid.UUID:
    """Returns a random UUID."""
    return uuid.uuid4()


async def _randint(a: int, b: int) -> int:
    """Returns a random integer from `a` to `b`, both included."""
    return random.randint(a, b)


async def _randrange(start: int, stop: int | None = None, step: int = 1) -> int:
    """Returns a random element of `range(start, stop, step)`."""
    return random.randrange(start, stop, step)


async def _choice(options: Sequence[Any]) -> Any:
    """Returns a random element of `options`."""
    return random.choice(options)


def _named_options(name: str) -> TaskOptions:
    return TaskOptions(name=name, auth_exempt=True)


now = Task(_now, _named_options("now"))
uuid4 = Task(_uuid4, _named_options("uuid4"))
randint = Task(_randint, _named_options("randint"))
randrange = Task(_randrange, _named_options("randrange"))
choice = Task(_choice, _named_options("choice"))
