"""Logging of the worker: each line names the execution that wrote it."""

from __future__ import annotations

import logging
import sys

from windlass._run import current_scope

FORMAT = "%(asctime)s %(levelname)s %(name)s%(execution)s: %(message)s"


class ExecutionFilter(logging.Filter):
    """Adds the execution id to log records. Runs in the context that creates the record."""

    def filter(self, record: logging.LogRecord) -> bool:
        scope = current_scope.get()
        record.execution = f" [{scope.run.context.execution_id}]" if scope else ""
        return True


def configure(level: str) -> None:
    """Sends all log records to stderr; stdout belongs to the workflows."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(ExecutionFilter())
    handler.setFormatter(logging.Formatter(FORMAT))
    logging.basicConfig(level=level.upper(), handlers=[handler])
