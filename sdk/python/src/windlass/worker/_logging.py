"""Log lines that say which execution they are about."""

from __future__ import annotations

import logging
import sys

from windlass._run import current

FORMAT = "%(asctime)s %(levelname)s %(name)s%(execution)s: %(message)s"


class ExecutionFilter(logging.Filter):
    """Names the execution whose code has written a line. Runs where the line is written."""

    def filter(self, record: logging.LogRecord) -> bool:
        scope = current.get()
        record.execution = f" [{scope.run.context.execution_id}]" if scope else ""
        return True


def configure(level: str) -> None:
    """Sends everything to stderr: stdout belongs to the workflows."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(ExecutionFilter())
    handler.setFormatter(logging.Formatter(FORMAT))
    logging.basicConfig(level=level.upper(), handlers=[handler])
