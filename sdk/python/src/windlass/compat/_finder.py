"""Import finder: sources of the reference release import this SDK under that release's name.

Sources that were written for the reference release keep their import lines. The finder answers an
import of `flux` or of a module in it with the module of this package that has the same contents, so
a class is the same object under both names. If the original package is installed, it is imported
instead.

Three kinds of modules differ:

- packages (`flux`, `flux.tasks`, `flux.domain`): a separate module object that reads its attributes
  from ours. Importing `x.tasks.pause` sets the attribute `pause` of `x.tasks` to the module, which
  would replace the task of that name in the real package;
- modules that have another place here: `_MOVED`;
- modules of the reference release's server and of its helpers for language models, which do not
  exist here: importing one raises an ImportError that names the replacement.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import Any

ALIAS = "flux"

_PACKAGE = "windlass"

# Modules whose contents are in another module of this package.
_MOVED = {
    "": _PACKAGE,
    "decorators": _PACKAGE,
    "tasks.builtins": f"{_PACKAGE}.tasks",
    "tasks.call": f"{_PACKAGE}.tasks._call",
    "tasks.graph": f"{_PACKAGE}.tasks._graph",
    "tasks.pause": f"{_PACKAGE}.tasks._pause",
    "tasks.progress": f"{_PACKAGE}.tasks._progress",
    "utils": f"{_PACKAGE}.compat.utils",
}

# Packages whose attributes may have the name of one of their modules.
_PACKAGES = {"", "tasks", "domain"}

_IN_THE_SERVER = (
    "it is part of the server here; use the HTTP API, the command line or windlass.client"
)

# First part of a module's name, or its first two parts: what to use instead.
_ABSENT = {
    "tasks.ai": "call the vendor's package inside a task, so that the answer is recorded",
    "tasks.mcp": "call an MCP client inside a task, so that the answer is recorded",
    "agents": "write the agent as a workflow: each request to the model is a task",
    "secret_managers": 'use @task.with_options(secret_requests=["NAME"])',
    "config_manager": "use windlass.tasks.config_task.get_config",
    "config": "the worker's settings are its command line, environment variables and svc.toml",
    "client": "use windlass.client",
    "encoders": "use windlass.values.register for values of your own classes",
    "runners": 'use @workflow.with_options(runner="subprocess")',
    "worker_registry": _IN_THE_SERVER,
    "schedule_manager": _IN_THE_SERVER,
    "server": _IN_THE_SERVER,
    "catalogs": _IN_THE_SERVER,
    "context_managers": _IN_THE_SERVER,
    "models": _IN_THE_SERVER,
    "security": _IN_THE_SERVER,
    "api": _IN_THE_SERVER,
    "cli": "use the command windlass",
    "mcp_server": _IN_THE_SERVER,
}

# Names of the root package that are functions of absent modules.
_ABSENT_NAMES = {"create_schedule_manager": _IN_THE_SERVER}


def install() -> None:
    """Installs the finder, once per process.

    It is first in `sys.meta_path`. Otherwise the default finder would follow the packages' paths
    and load their modules a second time under the alias.
    """
    if not any(isinstance(finder, AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, AliasFinder())


class AliasFinder(MetaPathFinder):
    """Finds the alias package and its modules."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns the spec of an aliased module, or None for any other module.

        Raises ImportError for a module of the reference release that has no counterpart.
        """
        root, _, rest = fullname.partition(".")
        if root != ALIAS or not _is_alias_active(rest):
            return None
        ours = _MOVED.get(rest) or f"{_PACKAGE}.{rest}"
        if not _exists(ours):
            _refuse_absent(fullname, rest)
            return None
        return ModuleSpec(fullname, AliasLoader(ours, rest in _PACKAGES), is_package=True)


def _is_alias_active(rest: str) -> bool:
    if rest:
        return isinstance(sys.modules.get(ALIAS), AliasPackage)
    return PathFinder.find_spec(ALIAS) is None


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _refuse_absent(fullname: str, rest: str) -> None:
    parts = rest.split(".")
    for place in (".".join(parts[:2]), parts[0]):
        if place in _ABSENT:
            raise ImportError(f"{fullname} does not exist here: {_ABSENT[place]}", name=fullname)


class AliasLoader(Loader):
    """Loader of an alias: returns the module that is registered under its own name."""

    def __init__(self, ours: str, is_package: bool) -> None:
        self._ours = ours
        self._is_package = is_package
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Returns the module for which the alias stands, importing it if necessary."""
        module = importlib.import_module(self._ours)
        if self._is_package:
            return AliasPackage(spec.name, module)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restores the module's own spec, which the import system has replaced with the alias's."""
        if self._spec is not None:
            module.__spec__ = self._spec


class AliasPackage(ModuleType):
    """Package under its alias: reads its attributes from the package for which it stands."""

    def __init__(self, name: str, ours: ModuleType) -> None:
        super().__init__(name, ours.__doc__)
        self.__dict__.update(_ours=ours, __path__=[])

    def __getattr__(self, name: str) -> Any:
        if name in _ABSENT_NAMES and self.__name__ == ALIAS:
            raise ImportError(f"{ALIAS}.{name} does not exist here: {_ABSENT_NAMES[name]}")
        return getattr(self._ours, name)

    def __setattr__(self, name: str, value: Any) -> None:
        ours = getattr(self._ours, name, None)
        if isinstance(value, ModuleType) and ours is not None and not isinstance(ours, ModuleType):
            return  # a task, whose module has the same name
        super().__setattr__(name, value)
