"""Settings that operators keep in the service."""

from __future__ import annotations

from typing import Any

from windlass._options import TaskOptions
from windlass._run import require_scope
from windlass.task import Task


async def _get_config(key: str) -> Any:
    """The value of a config, as it was when first asked for."""
    return (await require_scope().run.services.fetch_configs([key]))[key]


get_config = Task(_get_config, TaskOptions(name="get_config", auth_exempt=True))
