"""Worker: runs workflows for a Windlass server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from windlass.worker._settings import Settings
    from windlass.worker._worker import Worker

__all__ = ["Settings", "Worker"]


def __getattr__(name: str) -> Any:
    """Imports on first use: the processes that run workflows need no HTTP client."""
    if name == "Settings":
        from windlass.worker._settings import Settings

        return Settings
    if name == "Worker":
        from windlass.worker._worker import Worker

        return Worker
    raise AttributeError(name)
