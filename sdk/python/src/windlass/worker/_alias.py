"""Import alias: sources of the reference release import this SDK under its package name.

If the original package is installed, it is imported instead.
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
_MOVED = {"decorators": _PACKAGE}


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
        """Returns the spec of an aliased module, or None for any other module."""
        root, _, rest = fullname.partition(".")
        if root != ALIAS or not self._is_alias_active(rest):
            return None
        ours = _MOVED.get(rest) or f"{_PACKAGE}.{rest}".rstrip(".")
        if find_spec(ours) is None:
            return None
        return ModuleSpec(fullname, AliasLoader(ours), is_package=True)

    def _is_alias_active(self, rest: str) -> bool:
        if rest:
            return isinstance(sys.modules.get(ALIAS), AliasRoot)
        return PathFinder.find_spec(ALIAS) is None


class AliasLoader(Loader):
    """Loader of an alias: returns the module that is registered under its own name."""

    def __init__(self, ours: str) -> None:
        self._ours = ours
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Returns the module for which the alias stands, importing it if necessary."""
        module = importlib.import_module(self._ours)
        if spec.name == ALIAS:
            return AliasRoot(module)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restores the module's own spec, which the import system has replaced with the alias's."""
        if self._spec is not None:
            module.__spec__ = self._spec


class AliasRoot(ModuleType):
    """Root package under its alias.

    A separate module object: importing `x.task` sets the attribute `x.task` to the module, which
    would replace the decorator of that name in the real package.
    """

    def __init__(self, ours: ModuleType) -> None:
        super().__init__(ALIAS, ours.__doc__)
        self.__dict__.update(_ours=ours, __path__=[])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ours, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and hasattr(self._ours, name)):
            super().__setattr__(name, value)
