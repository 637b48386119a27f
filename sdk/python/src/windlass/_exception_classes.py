"""Exception classes: found again by their recorded names, and combined with ExecutionError."""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from windlass import errors
from windlass._source_text import SOURCE_PREFIX
from windlass.errors import ExecutionError


def find_class(failure: Mapping[str, Any], name: str, names: Mapping[str, Any]) -> Any:
    """Finds an exception class: the one that was raised, or else one of its name.

    The task's module may have imported another class under this name.
    """
    module = failure.get("module")
    own = _find_module(module).get(name)
    for found in (names.get(name), own):
        if _is_exception_class(found) and _is_same_module(found.__module__, module):
            return found
    # Logs of other makers name no module, and a class may have moved since.
    first = own if isinstance(module, str) else vars(errors).get(name)
    for found in (first, names.get(name), vars(builtins).get(name)):
        if _is_exception_class(found):
            return found
    return None


def _is_same_module(name: str, recorded: Any) -> bool:
    """True also for two versions of an uploaded source."""
    if not isinstance(recorded, str):
        return False
    return name == recorded or (
        name.startswith(SOURCE_PREFIX) and recorded.startswith(SOURCE_PREFIX)
    )


def _is_exception_class(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, BaseException)


def _find_module(name: Any) -> Mapping[str, Any]:
    if not isinstance(name, str):
        return {}
    try:
        return vars(sys.modules.get(name) or importlib.import_module(name))
    except Exception:
        return {}


def is_group_class(kind: Any) -> bool:
    """True for groups of exceptions. Raises TypeError for anything but a class."""
    return issubclass(kind, ExceptionGroup)


def _new_group(cls: Any, message: str, members: Sequence[Exception]) -> Any:
    return BaseExceptionGroup.__new__(cls, message, members)


def _init_group(self: ExecutionError, message: str, members: Sequence[Exception]) -> None:
    """Replaces that of ExecutionError, which has other parameters."""


def _text_of(error: ExecutionError) -> str:
    # Not its attribute `message`, which may be a property of the user's class.
    return str(vars(error)["__windlass_failure__"].get("message") or "")


@lru_cache(256)
def combine(user_class: Any) -> type[ExecutionError]:
    """Returns a class of which both `except ExecutionError` and `except user_class` are true."""
    if not issubclass(user_class, Exception):
        return ExecutionError
    try:
        members: dict[str, Any] = {"__module__": errors.__name__, "__str__": _text_of}
        if issubclass(user_class, BaseExceptionGroup):
            members |= {"__new__": _new_group, "__init__": _init_group, "message": ""}
        return type("ExecutionError", (ExecutionError, user_class), members)
    except TypeError:  # for example a class that forbids subclasses
        return ExecutionError
