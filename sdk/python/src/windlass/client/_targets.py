"""Arguments of starts: the workflow, as the object or its name, and the options of the run."""

from __future__ import annotations

from typing import Any, TypeAlias

from windlass._option_checks import check_priority
from windlass.workflow import Workflow

Target: TypeAlias = Workflow[Any, Any] | str


def to_names(workflow: Target) -> tuple[str, str]:
    """Returns namespace and name; a text is `"namespace/name"` or a name of `default`."""
    if isinstance(workflow, Workflow):
        return workflow.namespace, workflow.name
    namespace, _, name = workflow.rpartition("/")
    return namespace or "default", name


def to_run_query(version: int | None, priority: int | None) -> dict[str, int]:
    """Returns the query of a run; a member that is None is left to the server."""
    check_priority(priority)
    members = {"version": version, "priority": priority}
    return {name: value for name, value in members.items() if value is not None}
