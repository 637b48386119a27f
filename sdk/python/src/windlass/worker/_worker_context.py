"""What all executions of a worker have in common."""

from __future__ import annotations

from dataclasses import dataclass

from windlass.worker._api import Api
from windlass.worker._modules import Modules
from windlass.worker._settings import Settings
from windlass.worker._user_loop import UserLoop


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """The server, the worker's settings, and where the user's code runs."""

    api: Api
    settings: Settings
    user_loop: UserLoop
    modules: Modules
