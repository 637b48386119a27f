"""Tasks whose executions a test counts."""

from __future__ import annotations

import threading

from windlass import task

# Texts that tasks of the current test appended; a fixture clears the list before each test.
effects: list[str] = []

# Cleared: loading a value from a storage of a test takes until it is set.
may_load = threading.Event()
may_load.set()


@task
async def charge(amount: int) -> int:
    effects.append(f"charge {amount}")
    return amount


@task
async def charge_card(amount: int) -> int:
    effects.append(f"charge_card {amount}")
    return amount
