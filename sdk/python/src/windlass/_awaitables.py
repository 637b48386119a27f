"""Results of functions that may be asynchronous."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, TypeGuard


async def maybe_awaitable(value: Any) -> Any:
    """Returns the value, or what it returns if it is awaitable."""
    return await value if _is_awaitable(value) else value


def _is_awaitable(value: Any) -> TypeGuard[Awaitable[Any]]:
    return isinstance(value, Awaitable)
