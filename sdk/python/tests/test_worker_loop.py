"""Event loop of the worker."""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType

import pytest

from windlass.worker._cli import find_fast_loop


def test_worker_uses_uvloop_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    uvloop = ModuleType("uvloop")
    vars(uvloop)["new_event_loop"] = asyncio.SelectorEventLoop
    monkeypatch.setitem(sys.modules, "uvloop", uvloop)
    assert find_fast_loop() is asyncio.SelectorEventLoop


def test_worker_uses_the_loop_of_asyncio_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    # An entry of None makes an import fail as if the module were missing.
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert find_fast_loop() is None
