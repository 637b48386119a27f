"""Lets sources written for the reference release import our SDK under its package's name.

Where the original is installed, the original is imported.
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
# Modules whose contents are elsewhere in our package.
_MOVED = {"decorators": _PACKAGE}


def install() -> None:
    """Adds the finder, once per process.

    It stands first, or the usual finder would follow the paths of our packages and load their
    modules a second time under the alias.
    """
    if not any(isinstance(finder, AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, AliasFinder())


class AliasFinder(MetaPathFinder):
    """Finds the alias and the modules below it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module of ours under its alias; None for all others."""
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
    """Loads nothing: the module exists already, or is imported under its own name."""

    def __init__(self, ours: str) -> None:
        self._ours = ours
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module that the alias stands for."""
        module = importlib.import_module(self._ours)
        if spec.name == ALIAS:
            return AliasRoot(module)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Gives the module its own spec back, which the import has replaced by the alias's."""
        if self._spec is not None:
            module.__spec__ = self._spec


class AliasRoot(ModuleType):
    """The root package under its alias.

    A module of its own, since importing `x.task` binds the module to `x.task`: in our package
    that would replace the decorator of the same name.
    """

    def __init__(self, ours: ModuleType) -> None:
        super().__init__(ALIAS, ours.__doc__)
        self.__dict__.update(_ours=ours, __path__=[])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ours, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and hasattr(self._ours, name)):
            super().__setattr__(name, value)
