"""Metrics of the operator's own, which pongs carry for routing policies."""

from __future__ import annotations

import asyncio
import importlib
import logging
import math
from collections.abc import Callable, Mapping
from typing import Any

from windlass.worker._bootstrap import UsageError

log = logging.getLogger("windlass.worker")

INTERVAL_S = 10.0
TIMEOUT_S = 5.0
MAX_KEYS = 32
MAX_KEY_LENGTH = 128

Provider = Callable[[], Mapping[str, float]]


def load_provider(reference: str) -> Provider:
    """Imports `module:function`. Raises UsageError."""
    module_name, _, name = reference.partition(":")
    try:
        provider = getattr(importlib.import_module(module_name), name)
    except Exception as error:
        raise UsageError(f"--metrics-provider {reference}: {error!r}") from error
    if not callable(provider):
        raise UsageError(f"--metrics-provider {reference}: not a function")
    return provider  # type: ignore[no-any-return]


class ProvidedMetrics:
    """Calls the provider every ten seconds in a thread, so that a slow one delays no pong."""

    def __init__(self, provider: Provider, reserved_prefix: str) -> None:
        self._provider = provider
        self._reserved_prefix = reserved_prefix
        self.values: Mapping[str, float] = {}

    async def run(self) -> None:
        """Refreshes the values until it is cancelled. After a failure the last values remain."""
        while True:
            await self.refresh()
            await asyncio.sleep(INTERVAL_S)

    async def refresh(self) -> None:
        """Calls the provider once; a failure is logged."""
        try:
            async with asyncio.timeout(TIMEOUT_S):
                self.values = self._check(await asyncio.to_thread(self._provider))
        except Exception as error:
            log.warning("failed to read the metrics provider: %r", error)

    def _check(self, values: Mapping[str, Any]) -> Mapping[str, float]:
        own = {
            key: float(value)
            for key, value in values.items()
            if not key.startswith(self._reserved_prefix) and len(key) <= MAX_KEY_LENGTH
        }
        finite = {key: value for key, value in own.items() if math.isfinite(value)}
        return dict(list(finite.items())[:MAX_KEYS])
