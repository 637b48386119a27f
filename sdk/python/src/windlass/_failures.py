"""Failures: exceptions as the log holds them, and the exceptions that a workflow sees.

A workflow sees the same exception in the run in which a task failed and in every replay, because
both are built from the record. It is an ExecutionError, and also an instance of the class that the
task raised if this class can be found: `except httpx.HTTPStatusError` and `except ExecutionError`
both catch it. Of other classes, and of those that can neither be extended nor created, only the
name is left: `inner_exception` is a RecordedError.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

from windlass import errors
from windlass._exception_classes import combine, find_class, is_group_class
from windlass._json import encode, loads
from windlass._masking import Mask
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
# Exceptions in one failure: groups may contain groups.
MAX_EXCEPTIONS = 50

# Attributes of the SDK's errors that `restore_failure` sets itself.
_BUILT_UP = {"inner_exception", "message", "__notes__", "__windlass_failure__"}

_WITHOUT_VALUES = (
    errors.ApprovalRejected,
    errors.ExecutionTimeoutError,
    errors.RequestRefusedError,
    errors.TaskAuthorizationError,
)

_PACKAGE = __name__.partition(".")[0]


def describe_failure(error: BaseException, mask: Mask | None = None) -> dict[str, Any]:
    """Returns an exception as the log holds it.

    Members: `type`, `message` (at most 16 KiB), `module`, `args` (JSON, or null), `attributes`
    (those that JSON holds as they are), `traceback` (the frames of user code, at most 16 KiB) and
    `cause` (the same members, or null); for a group also `exceptions`, each with these members; and
    `notes`, if there are any. `mask` replaces values of secrets in all of them.
    """
    described: dict[str, Any] = loads(encode(_describe(error, MAX_CAUSES, _Limits(mask or Mask()))))
    return described


def describe_without_values(error: BaseException, mask: Mask | None = None) -> dict[str, Any]:
    """Returns an exception as the log holds it for a sensitive task: its type and traceback.

    What the server or the SDK itself refused is described in full.
    """
    described = describe_failure(error, mask)
    if isinstance(root_cause(error), _WITHOUT_VALUES):
        return described
    return _without_values(described)


def _without_values(described: Mapping[str, Any]) -> dict[str, Any]:
    message = "the message is not recorded, because the task is sensitive"
    kept: dict[str, Any] = {**described, "message": message, "args": None, "cause": None}
    kept["attributes"] = {}
    kept.pop("notes", None)
    if is_list(members := described.get("exceptions")):
        kept["exceptions"] = [_without_values(member) for member in members]
    return kept


def restore_failure(failure: Mapping[str, Any], names: Mapping[str, Any]) -> ExecutionError:
    """Returns the exception that the workflow sees.

    `names` are the globals of the task's module, where exception classes are looked up first.
    """
    failure = decoded_failure(failure)
    restored = _restore(failure, names)
    cause = failure.get("cause")
    _set(restored, __cause__=restore_failure(cause, names) if is_object(cause) else None)
    return restored


def _restore(failure: Mapping[str, Any], names: Mapping[str, Any]) -> ExecutionError:
    type_name, message = str(failure.get("type") or "Exception"), str(failure.get("message") or "")
    kind = find_class(failure, type_name, names)
    members = failure.get("exceptions")
    try:
        if issubclass(kind, ExecutionError):
            error: ExecutionError = _create(kind, failure, message)
            _set(error, inner_exception=None, message=message)
            return error
        if is_list(members) and is_group_class(kind):
            group = [restore_failure(member, names) for member in members if is_object(member)]
            inner: BaseException = _attach(kind(message, group), failure)
            combined: Any = combine(kind)
            restored: ExecutionError = combined(message, group)
        else:
            inner = _create(kind, failure, message)
            combined = combine(kind)
            restored = combined.__new__(combined)
            _set(restored, args=inner.args)
    except Exception:  # no class, or one that cannot be created
        inner = RecordedError(type_name, message, failure)
        restored = ExecutionError.__new__(ExecutionError)
        restored.args = inner.args
    vars(restored).update(vars(inner))
    _attach(restored, failure)
    _set(restored, inner_exception=inner, message=message)
    return restored


def decoded_failure(failure: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a failure whose envelopes are decoded as it was recorded."""
    decoded = failure.get(ENCODED_FAILURE)
    return decoded if is_object(decoded) else failure


@dataclass(slots=True)
class _Limits:
    """Number of exceptions that one failure describes, and the secrets that it leaves out."""

    mask: Mask
    described: int = 0

    @property
    def is_full(self) -> bool:
        return self.described >= MAX_EXCEPTIONS


def _describe(error: BaseException, causes: int, count: _Limits) -> dict[str, Any]:
    count.described += 1
    inner = root_cause(error)
    recorded = recorded_failure(inner)
    if recorded is not None:
        return _mask_recorded(recorded, count.mask)
    described: dict[str, Any] = dict(describe_error(inner))
    mask = count.mask
    # Masked before it is cut: a part of a secret would stay.
    described["message"] = mask.text(described["message"])[:MAX_TEXT]
    cause = inner.__cause__ or (None if inner.__suppress_context__ else inner.__context__)
    described |= {
        "module": type(inner).__module__,
        "args": mask.value(_describe_args(inner)),
        "attributes": mask.value(_describe_attributes(inner)),
        "traceback": _format_traceback(inner, mask),
        "cause": None,
    }
    if notes := _describe_notes(inner, mask):
        described["notes"] = notes
    if causes > 1 and cause is not None and not count.is_full:
        described["cause"] = _describe(cause, causes - 1, count)
    if causes > 1 and is_group(inner):
        members = [
            _describe(member, causes - 1, count)
            for member in inner.exceptions[:MAX_MEMBERS]
            if not count.is_full
        ]
        if members:
            described["exceptions"] = members
    return described


def _mask_recorded(failure: Mapping[str, Any], mask: Mask) -> dict[str, Any]:
    """Returns a recorded failure, such as that of another process, without the secrets."""
    masked: dict[str, Any] = {
        name: part if name in {"type", "module"} else mask.value(part)
        for name, part in failure.items()
    }
    if is_object(cause := failure.get("cause")):
        masked["cause"] = _mask_recorded(cause, mask)
    if is_list(members := failure.get("exceptions")):
        masked["exceptions"] = [_mask_recorded(each, mask) for each in members if is_object(each)]
    return masked


def _describe_notes(error: BaseException, mask: Mask) -> list[str]:
    """Returns the notes of an exception, together at most MAX_ARGS characters."""
    notes: Any = getattr(error, "__notes__", None)
    kept: list[str] = []
    left = MAX_ARGS
    for note in notes if is_list(notes) else []:
        text = mask.text(str(note))[:left]
        left -= len(text)
        kept += [text] if text else []
    return kept


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
        # JSON has other keys as text.
        or (type(value) is dict and _has_text_keys(value) and _is_plain(value.values()))
        for value in values
    )


def _has_text_keys(value: Mapping[Any, Any]) -> bool:
    return all(type(key) is str for key in value)


def _format_traceback(error: BaseException, mask: Mask) -> str:
    """Returns the frames of user code; those of this package say nothing to its author."""
    frames = traceback.extract_tb(error.__traceback__)
    shown = [frame for frame in frames if not _is_internal(frame.filename)]
    text = mask.text("".join(traceback.format_list(shown or frames)))
    return text if len(text) <= MAX_TEXT else f"…\n{text[-MAX_TEXT + 2 :]}"


def _is_internal(filename: str) -> bool:
    return filename.startswith((_DIRECTORY, "<frozen"))


_DIRECTORY = (sys.modules[_PACKAGE].__file__ or "").rpartition("__init__")[0] or "\0"


def _create(kind: Any, failure: Mapping[str, Any], message: str) -> Any:
    """Creates the exception from its arguments, as pickle does, or without its `__init__`."""
    args = deepcopy(failure.get("args"))
    error: Any = None
    if isinstance(args, list):
        with suppress(Exception):
            error = kind(*args)
    if error is None or list(error.args) != args:
        error = kind.__new__(kind)
        _set(error, args=(message,))
    return _attach(error, failure)


def _attach(error: Any, failure: Mapping[str, Any]) -> Any:
    """Gives an exception its recorded attributes and its record."""
    # Copies: changes of the exception must not change its record.
    attributes: Any = deepcopy(failure.get("attributes"))
    _set(error, **(attributes if is_object(attributes) else {}))
    if is_list(notes := failure.get("notes")):
        _set(error, __notes__=[str(note) for note in notes])
    vars(error)["__windlass_failure__"] = failure
    return error


def _set(error: BaseException, /, **attributes: Any) -> None:
    """Sets attributes, also of a frozen dataclass, but not those that the class computes."""
    for name, value in attributes.items():
        with suppress(AttributeError, TypeError):
            object.__setattr__(error, name, value)
