"""Sources: the workflows that a module defines."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

from windlass.workflow import Workflow


def list_workflows(module: ModuleType) -> Iterator[Workflow[Any, Any]]:
    """Yields the workflows of a module and of the classes that it defines."""
    owners: list[ModuleType | type] = [module]
    # The loop also visits the classes that it appends.
    for owner in owners:
        for value in vars(owner).values():
            if isinstance(value, Workflow):
                yield value
            elif isinstance(value, type) and value.__module__ == module.__name__:
                owners += [] if value in owners else [value]
