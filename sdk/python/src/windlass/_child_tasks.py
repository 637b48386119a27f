"""Set of the asyncio tasks that a run has created."""

from __future__ import annotations

import asyncio
from typing import Any

MIN_TASKS = 64


class ChildTasks:
    """Asyncio tasks of one run.

    Those that have ended are removed now and then: a callback at the end of each would take longer.
    """

    __slots__ = ("_limit", "_tasks")

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._limit = MIN_TASKS

    def add(self, task: asyncio.Task[Any]) -> None:
        """Adds a task."""
        self._tasks.add(task)
        if len(self._tasks) > self._limit:
            self._tasks = self.find_running()
            self._limit = max(MIN_TASKS, 2 * len(self._tasks))

    def find_running(self) -> set[asyncio.Task[Any]]:
        """Returns the tasks that have not ended."""
        return {task for task in self._tasks if not task.done()}
