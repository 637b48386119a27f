"""Lines that code of a workflow has written, in runs without a server."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

_LEVELS = (
    (logging.CRITICAL, "critical"),
    (logging.ERROR, "error"),
    (logging.WARNING, "warning"),
    (logging.INFO, "info"),
)


@dataclass(frozen=True, slots=True)
class LogLine:
    """Line that was printed or logged.

    Attributes:
        task_id: call of the task that wrote it; empty for the body of the workflow.
        task_name: name of the task.
        level: `"debug"`, `"info"`, `"warning"`, `"error"` or `"critical"`.
        logger: name of the logger; `"stdout"` or `"stderr"` for what was printed.
        message: the text, which may have several lines.
    """

    task_id: str
    task_name: str
    level: str
    logger: str
    message: str

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Creates a line from the JSON of `_capture`."""
        members: Mapping[str, Any] = json.loads(text)
        level = next((name for least, name in _LEVELS if members["level"] >= least), "debug")
        names = (members["task_id"], members["task_name"])
        return cls(*names, level, members["logger"], members["message"])
