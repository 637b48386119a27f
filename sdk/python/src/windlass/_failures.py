"""Failures: exceptions as the log holds them, and the exceptions that a workflow sees.

A workflow sees the same exception in the run in which a task failed and in every replay, because
both are built from the record. It is an ExecutionError, and also an instance of the class that the
task raised if this class can be found: `except httpx.HTTPStatusError` and `except ExecutionError`
both catch it. Of other classes, and of those that can neither be extended nor created, only the
name is left: `inner_exception` is a RecordedError.
"""

from __future__ import annotations

import builtins
import importlib
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

from windlass import errors
from windlass._json import encode
from windlass._narrow import is_list, is_object
from windlass.errors import (
    ExecutionError,
    RecordedError,
    UnserializableError,
    describe_error,
    is_group,
    recorded_failure,
    root_cause,
)

# Member of a failure whose values are encoded: the whole failure in an envelope.
ENCODED_FAILURE = "$failure"

MAX_TEXT = 16 * 1024
MAX_ARGS = 4 * 1024
MAX_CAUSES = 5
# Of an exception group.
MAX_MEMBERS = 10

# Attributes of the SDK's errors that `restore_failure` sets itself.
_BUILT_UP = {"inner_exception", "message", "__notes__", "__windlass_failure__"}

_WITHOUT_VALUES = (
    errors.ApprovalRejected,
    errors.ExecutionTimeoutError,
    errors.RequestRefusedError,
    errors.TaskAuthorizationError,
)

_PACKAGE = __name__.partition(".")[0]


def describe_failure(error: BaseException) -> dict[str, Any]:
    """Returns an exception as the log holds it.

    Members: `type`, `message` (at most 16 KiB), `module`, `args` (JSON, or null), `attributes`
    (those that JSON holds as they are), `traceback` (the frames of user code, at most 16 KiB) and
    `cause` (the same members, or null); for a group also `exceptions`, each with these members.
    """
    return _describe(error, MAX_CAUSES)


def describe_without_values(error: BaseException) -> dict[str, Any]:
    """Returns an exception as the log holds it for a sensitive task: its type and traceback.

    What the server or the SDK itself refused is described in full.
    """
    described = describe_failure(error)
    if isinstance(root_cause(error), _WITHOUT_VALUES):
        return described
    message = "the message is not recorded, because the task is sensitive"
    return {**described, "message": message, "args": None, "attributes": {}, "cause": None}


def restore_failure(failure: Mapping[str, Any], names: Mapping[str, Any]) -> ExecutionError:
    """Returns the exception that the workflow sees.

    `names` are the globals of the task's module, where exception classes are looked up first.
    """
    failure = decoded_failure(failure)
    restored = _restore(failure, names)
    cause = failure.get("cause")
    restored.__cause__ = restore_failure(cause, names) if is_object(cause) else None
    return restored


def _restore(failure: Mapping[str, Any], names: Mapping[str, Any]) -> ExecutionError:
    type_name, message = str(failure.get("type") or "Exception"), str(failure.get("message") or "")
    sdk_class = getattr(errors, type_name, None)
    if isinstance(sdk_class, type) and issubclass(sdk_class, ExecutionError):
        error: ExecutionError = _create(sdk_class, failure, message)
        error.inner_exception, error.message = None, message
        return error
    user_class = _find_class(failure, type_name, names)
    members = failure.get("exceptions")
    try:
        if is_list(members) and _is_group_class(user_class):
            group = [restore_failure(member, names) for member in members if is_object(member)]
            inner: BaseException = _attach(user_class(message, group), failure)
            combined: Any = _combine(user_class)
            restored: ExecutionError = combined(message, group)
        else:
            inner = _create(user_class, failure, message)
            combined = _combine(user_class)
            restored = combined.__new__(combined)
            restored.args = inner.args
    except TypeError:  # no class, or one that cannot be created
        inner = RecordedError(type_name, message, failure)
        restored = ExecutionError.__new__(ExecutionError)
        restored.args = inner.args
    vars(restored).update(vars(inner))
    _attach(restored, failure)
    restored.inner_exception, restored.message = inner, message
    return restored


def decoded_failure(failure: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a failure whose envelopes are decoded as it was recorded."""
    decoded = failure.get(ENCODED_FAILURE)
    return decoded if is_object(decoded) else failure


def _describe(error: BaseException, causes: int) -> dict[str, Any]:
    inner = root_cause(error)
    recorded = recorded_failure(inner)
    if recorded is not None:
        return dict(recorded)
    described: dict[str, Any] = dict(describe_error(inner))
    described["message"] = described["message"][:MAX_TEXT]
    if is_group(inner) and causes > 1:
        members = inner.exceptions[:MAX_MEMBERS]
        described["exceptions"] = [_describe(member, causes - 1) for member in members]
    cause = inner.__cause__ or (None if inner.__suppress_context__ else inner.__context__)
    return {
        **described,
        "module": type(inner).__module__,
        "args": _describe_args(inner),
        "attributes": _describe_attributes(inner),
        "traceback": _format_traceback(inner),
        "cause": _describe(cause, causes - 1) if cause is not None and causes > 1 else None,
    }


def _describe_args(error: BaseException) -> list[Any] | None:
    args = list(error.args)
    try:
        return args if len(encode(args)) <= MAX_ARGS and _is_plain(args) else None
    except UnserializableError:
        return None


def _describe_attributes(error: BaseException) -> dict[str, Any]:
    attributes = {
        name: value
        for name, value in (*_list_slots(error), *vars(error).items())
        if name not in _BUILT_UP and _is_plain([value])
    }
    try:
        return attributes if len(encode(attributes)) <= MAX_ARGS else {}
    except UnserializableError:
        return {}


def _list_slots(error: BaseException) -> Iterator[tuple[str, Any]]:
    """Yields attributes that are not in `__dict__`, such as `errno`, if they have a value."""
    for kind in type(error).__mro__:
        if kind in {BaseException, BaseExceptionGroup, ExecutionError}:
            continue
        for name, descriptor in vars(kind).items():
            is_slot = isinstance(descriptor, MemberDescriptorType | GetSetDescriptorType)
            if is_slot and not name.startswith("__"):
                value = getattr(error, name, None)
                if value is not None:
                    yield name, value


def _is_plain(values: Iterable[Any]) -> bool:
    return all(
        value is None
        or type(value) in {str, int, float, bool}
        or (type(value) is list and _is_plain(value))
        or (type(value) is dict and _is_plain(value) and _is_plain(value.values()))
        for value in values
    )


def _format_traceback(error: BaseException) -> str:
    """Returns the frames of user code; those of this package say nothing to its author."""
    frames = traceback.extract_tb(error.__traceback__)
    shown = [frame for frame in frames if not _is_internal(frame.filename)]
    text = "".join(traceback.format_list(shown or frames))
    return text if len(text) <= MAX_TEXT else f"…\n{text[-MAX_TEXT + 2 :]}"


def _is_internal(filename: str) -> bool:
    return filename.startswith((_DIRECTORY, "<frozen"))


_DIRECTORY = (sys.modules[_PACKAGE].__file__ or "").rpartition("__init__")[0] or "\0"


def _find_class(failure: Mapping[str, Any], name: str, names: Mapping[str, Any]) -> Any:
    """Finds an exception class in the task's module, in its own module, or among the built-ins."""
    module = failure.get("module")
    for scope in (names, _find_module(module), vars(builtins)):
        found = scope.get(name)
        if isinstance(found, type) and issubclass(found, BaseException):
            return found
    return None


def _find_module(name: Any) -> Mapping[str, Any]:
    if not isinstance(name, str):
        return {}
    try:
        return vars(sys.modules.get(name) or importlib.import_module(name))
    except Exception:
        return {}


def _is_group_class(kind: Any) -> bool:
    return issubclass(kind, ExceptionGroup)


def _new_group(cls: Any, message: str, members: Sequence[Exception]) -> Any:
    return BaseExceptionGroup.__new__(cls, message, members)


def _init_group(self: ExecutionError, message: str, members: Sequence[Exception]) -> None:
    """Replaces that of ExecutionError, which has other parameters."""


def _message_of(error: ExecutionError) -> str:
    return error.message


@lru_cache(256)
def _combine(user_class: Any) -> type[ExecutionError]:
    """Returns a class of which both `except ExecutionError` and `except user_class` are true."""
    if not issubclass(user_class, Exception):
        return ExecutionError
    try:
        members: dict[str, Any] = {"__module__": errors.__name__, "__str__": _message_of}
        if issubclass(user_class, BaseExceptionGroup):
            members |= {"__new__": _new_group, "__init__": _init_group, "message": ""}
        return type("ExecutionError", (ExecutionError, user_class), members)
    except TypeError:  # for example a class that forbids subclasses
        return ExecutionError


def _create(kind: Any, failure: Mapping[str, Any], message: str) -> Any:
    """Creates the exception from its arguments, as pickle does, or without its `__init__`."""
    args = failure.get("args")
    error: Any = None
    if isinstance(args, list):
        with suppress(Exception):
            error = kind(*args)
    if error is None or list(error.args) != args:
        error = kind.__new__(kind)
        error.args = (message,)
    return _attach(error, failure)


def _attach(error: Any, failure: Mapping[str, Any]) -> Any:
    """Gives an exception its recorded attributes and its record."""
    attributes: Any = failure.get("attributes")
    for name, value in attributes.items() if is_object(attributes) else ():
        with suppress(AttributeError, TypeError):  # one that cannot be assigned
            setattr(error, name, value)
    error.__windlass_failure__ = failure
    return error
