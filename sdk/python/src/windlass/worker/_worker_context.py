"""Context that all executions of a worker share."""

from __future__ import annotations

from dataclasses import dataclass

from windlass.worker._api import Api
from windlass.worker._modules import Modules
from windlass.worker._settings import Settings
from windlass.worker._user_loop import UserLoop


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """Server interface, settings, user loop and module cache of a worker."""

    api: Api
    settings: Settings
    user_loop: UserLoop
    modules: Modules
