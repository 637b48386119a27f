"""Processes of tasks with the option `process`, in a child or in the worker's own thread."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from windlass._process_pool import ProcessPool


class TaskProcesses:
    """Pool that is created for its first task: most workflows need none of its modules."""

    def __init__(
        self, size: int, log_level: str, log_format: str, environment: Mapping[str, str] | None
    ) -> None:
        self._size = size
        self._log_level = log_level
        self._log_format = log_format
        self._environment = environment
        self._pool: ProcessPool | None = None

    def __call__(self) -> ProcessPool:
        """Returns the pool. Called in the event loop of the workflows."""
        if self._pool is None:
            pool: ProcessPool = importlib.import_module("windlass._process_pool").ProcessPool(
                self._size,
                environment=self._environment,
                log_level=self._log_level,
                log_format=self._log_format,
            )
            self._pool = pool
        return self._pool

    def close(self) -> None:
        """Kills the processes."""
        if self._pool is not None:
            self._pool.close()
