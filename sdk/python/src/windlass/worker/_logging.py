"""Logging of the worker: each line names the execution and the task that wrote it."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from windlass._run import current_scope
from windlass._trace import current_traceparent, parse_traceparent

FORMAT = "%(asctime)s %(levelname)s %(name)s%(place)s: %(message)s"


class ExecutionFilter(logging.Filter):
    """Adds execution and task to log records. Runs in the context that creates the record."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Accepts every record."""
        scope = current_scope.get()
        execution_id = scope.run.context.execution_id if scope else None
        task_id = (scope.call_id or None) if scope else None
        names = " ".join(name for name in (execution_id, task_id) if name)
        place = f" [{names}]" if names else ""
        context = parse_traceparent(current_traceparent.get())
        trace_id = context.trace_id if context else None
        vars(record).update(
            execution_id=execution_id, task_id=task_id, trace_id=trace_id, place=place
        )
        return True


class JsonFormatter(logging.Formatter):
    """One JSON object on each line.

    Members: `time` (UTC), `level`, `logger`, `message`, and where there is one `execution_id`,
    `task_id`, `trace_id` and `exception` (the traceback).
    """

    def format(self, record: logging.LogRecord) -> str:
        """Returns the line without its end."""
        members = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "execution_id": getattr(record, "execution_id", None),
            "task_id": getattr(record, "task_id", None),
            "trace_id": getattr(record, "trace_id", None),
            "exception": self.formatException(record.exc_info) if record.exc_info else None,
        }
        return json.dumps({name: value for name, value in members.items() if value is not None})


def configure(level: str, log_format: str = "text") -> None:
    """Sends all log records to stderr, as `text` or `json`; stdout belongs to the workflows."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(ExecutionFilter())
    is_json = log_format == "json"
    handler.setFormatter(JsonFormatter() if is_json else logging.Formatter(FORMAT))
    logging.basicConfig(level=level.upper(), handlers=[handler])
