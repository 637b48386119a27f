"""Workflows as arguments: the object, or its name."""

from __future__ import annotations

from typing import Any, TypeAlias

from windlass.workflow import Workflow

Target: TypeAlias = Workflow[Any, Any] | str


def to_names(workflow: Target) -> tuple[str, str]:
    """Returns namespace and name; a text is `"namespace/name"` or a name of `default`."""
    if isinstance(workflow, Workflow):
        return workflow.namespace, workflow.name
    namespace, _, name = workflow.rpartition("/")
    return namespace or "default", name
