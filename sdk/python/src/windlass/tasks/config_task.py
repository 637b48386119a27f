"""The task `get_config`: reads a config of the server."""

from __future__ import annotations

from typing import Any

from windlass._options import TaskOptions
from windlass._run import require_scope
from windlass.task import Task


async def _get_config(key: str) -> Any:
    """Returns the value of a config. It is recorded: later runs return the same value."""
    return (await require_scope().run.services.fetch_configs([key]))[key]


get_config = Task(_get_config, TaskOptions(name="get_config", auth_exempt=True))
