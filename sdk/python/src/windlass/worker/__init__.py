"""Worker: runs workflows for a Windlass server."""

from windlass.worker._settings import Settings
from windlass.worker._worker import Worker

__all__ = ["Settings", "Worker"]
