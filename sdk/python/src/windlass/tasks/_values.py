"""Non-deterministic values as tasks: each value is recorded and the same in every run."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from windlass._environment import Environment
from windlass._options import TaskOptions
from windlass._run import require_scope
from windlass.task import Task


async def _now() -> datetime:
    """Returns the local time without a time zone."""
    return _environment().clock().astimezone().replace(tzinfo=None)


async def _uuid4() -> uuid.UUID:
    """Returns a random UUID."""
    return _environment().uuid4()


async def _randint(a: int, b: int) -> int:
    """Returns a random integer from `a` to `b`, both included."""
    return _environment().random.randint(a, b)  # type: ignore[no-any-return]


async def _randrange(start: int, stop: int | None = None, step: int = 1) -> int:
    """Returns a random element of `range(start, stop, step)`."""
    return _environment().random.randrange(start, stop, step)  # type: ignore[no-any-return]


async def _choice(options: Sequence[Any]) -> Any:
    """Returns a random element of `options`."""
    return _environment().random.choice(options)


def _environment() -> Environment:
    return require_scope().run.environment


def _named_options(name: str) -> TaskOptions:
    return TaskOptions(name=name, auth_exempt=True)


now = Task(_now, _named_options("now"))
uuid4 = Task(_uuid4, _named_options("uuid4"))
randint = Task(_randint, _named_options("randint"))
randrange = Task(_randrange, _named_options("randrange"))
choice = Task(_choice, _named_options("choice"))
