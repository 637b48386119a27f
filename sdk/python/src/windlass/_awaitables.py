"""Results of functions that may be asynchronous."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any


async def maybe_awaitable(value: Any) -> Any:
    """Returns the value, or what it returns if it is awaitable."""
    return await value if isinstance(value, Awaitable) else value
