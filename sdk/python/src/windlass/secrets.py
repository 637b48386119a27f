"""Earlier versions of secrets, for a rotation during which both values are valid."""

from __future__ import annotations

from typing import Any

from windlass._run import require_scope
from windlass.errors import ExecutionContextNotFoundError

__all__ = ["previous_secret"]


async def previous_secret(name: str) -> Any:
    """Returns the value that a secret had before its current one.

    Call it in a task whose workflow declares the secret (`secret_requests`). The value is read from
    the server at each call and is never recorded, so do not return it. Raises RequestRefusedError
    if no previous value is kept, and ExecutionContextNotFoundError outside a task.
    """
    scope = require_scope()
    if not scope.call_id:
        raise ExecutionContextNotFoundError("previous_secret can be called only inside a task")
    values = await scope.run.services.fetch_secrets([name], previous=True)
    scope.run.hide(values.values())
    return values[name]
