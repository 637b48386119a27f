"""The function `progress`: reports the progress of a task."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from windlass._run import current_scope


class _Completed:
    """Awaitable that is already complete: `await progress(...)` is allowed but not needed."""

    def __await__(self) -> Generator[Any, None, None]:
        return
        yield


def progress(value: Any) -> _Completed:
    """Publishes `value` to readers of the execution. Best effort: not recorded, may be lost.

    Callable from any thread; never waits. Does nothing outside a task and in a sensitive one.
    """
    scope = current_scope.get()
    if scope is not None and scope.call_id and not scope.is_sensitive:
        scope.run.services.publish_progress(scope.call_id, scope.task_name, value)
    return _Completed()
