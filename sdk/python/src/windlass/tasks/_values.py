"""Values that differ from run to run, recorded so that within an execution they do not."""

from __future__ import annotations

import random
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from windlass._options import TaskOptions
from windlass.task import Task


async def _now() -> datetime:
    """The local time."""
    return datetime.now()


async def _uuid4() -> uuid.UUID:
    """A random UUID."""
    return uuid.uuid4()


async def _randint(a: int, b: int) -> int:
    """A random integer from `a` to `b`, both included."""
    return random.randint(a, b)


async def _randrange(start: int, stop: int | None = None, step: int = 1) -> int:
    """A random element of `range(start, stop, step)`."""
    return random.randrange(start, stop, step)


async def _choice(options: Sequence[Any]) -> Any:
    """A random element."""
    return random.choice(options)


def _named_options(name: str) -> TaskOptions:
    return TaskOptions(name=name, auth_exempt=True)


now = Task(_now, _named_options("now"), restore=datetime.fromisoformat)
uuid4 = Task(_uuid4, _named_options("uuid4"), restore=uuid.UUID)
randint = Task(_randint, _named_options("randint"))
randrange = Task(_randrange, _named_options("randrange"))
choice = Task(_choice, _named_options("choice"))
