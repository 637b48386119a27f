"""Helpers that sources of the reference release import from its module `utils`."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import logging
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from windlass._awaitables import maybe_awaitable
from windlass._narrow import is_list, is_object
from windlass._plain import to_json_form
from windlass.domain.execution_context import ExecutionContext

__all__ = [
    "get_func_args",
    "get_logger",
    "import_module",
    "import_module_from_file",
    "is_hashable",
    "make_hashable",
    "maybe_awaitable",
    "parse_value",
    "to_json",
]

_WORDS = {
    "": None,
    "none": None,
    "null": None,
    "true": True,
    "false": False,
    "nan": float("nan"),
    "inf": float("inf"),
    "infinity": float("inf"),
    "-inf": float("-inf"),
    "-infinity": float("-inf"),
}


def is_hashable(value: Any) -> bool:
    """True if `hash(value)` succeeds."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def make_hashable(value: Any) -> Hashable:
    """Returns a hashable copy: mappings and lists as tuples, sets as frozensets, others as text."""
    anything = value
    if is_object(value):
        pairs = [(key, make_hashable(item)) for key, item in value.items()]
        return tuple(sorted(pairs, key=repr))
    if is_list(value):
        return tuple(make_hashable(item) for item in value)
    if isinstance(value, set):
        return frozenset(map(make_hashable, anything))
    return value if is_hashable(value) else str(value)


def to_json(value: Any) -> str:
    """Returns the value as indented JSON; parts without a JSON form become strings."""
    return json.dumps(value, indent=4, default=_to_form)


def _to_form(value: Any) -> Any:
    if isinstance(value, ExecutionContext):
        return value.to_dict()
    try:
        return to_json_form(value)
    except TypeError:
        return getattr(value, "__name__", str(value))


def parse_value(text: str | None) -> Any:
    """Returns what a text on a command line stands for: None, boolean, number, JSON or text."""
    if text is None or text.lower() in _WORDS:
        return _WORDS[(text or "").lower()]
    for convert in (int, float, json.loads):
        try:
            return convert(text)
        except ValueError:
            continue
    return text


def get_func_args(func: Callable[..., Any], args: Sequence[Any]) -> dict[str, Any]:
    """Returns positional arguments by the names of their parameters; functions by their names."""
    names = inspect.getfullargspec(func).args
    values = [arg.__name__ if inspect.isroutine(arg) else arg for arg in args]
    return dict(zip(names, values, strict=False))


def get_logger(name: str, parent: str = "windlass") -> logging.Logger:
    """Returns the logger `parent.name`."""
    is_below = name == parent or name.startswith(f"{parent}.")
    return logging.getLogger(name if is_below else f"{parent}.{name}")


def import_module(name: str) -> ModuleType:
    """Imports a module by its name."""
    return importlib.import_module(name)


def import_module_from_file(path: str) -> ModuleType:
    """Imports a Python file, or the `__init__.py` of a folder.

    Raises ValueError for another kind of file.
    """
    file = Path(path)
    file = file / "__init__.py" if file.is_dir() else file
    if file.suffix != ".py":
        raise ValueError(f"{path} is not a Python file")
    spec = importlib.util.spec_from_file_location("workflow_module", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
