"""Telling how far a task has come."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from windlass._run import current


class _Completed:
    """Awaitable, for sources that await it; told already, for those that do not."""

    def __await__(self) -> Generator[Any, None, None]:
        return
        yield


def progress(value: Any) -> _Completed:
    """Shows `value` to whoever watches the execution. Not recorded, and may be lost.

    Outside of a task it does nothing. It may be called from any thread and never waits.
    """
    scope = current.get()
    if scope is not None and scope.call_id:
        scope.run.services.publish_progress(scope.call_id, scope.task_name, value)
    return _Completed()
