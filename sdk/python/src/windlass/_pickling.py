"""Pickles of arguments and results of tasks that run in a process of their own."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Iterator, Mapping
from typing import Any

from windlass.errors import UnserializableError

MAX_PARTS = 10_000


def pickle_value(value: Any, what: str) -> bytes:
    """Returns the pickle of a value. Raises UnserializableError that names the place.

    `what` names the value in the message, such as `"the argument rows of convert"`.
    """
    try:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        place, reason = _find_refused(value, error)
        message = f"{what} cannot be sent to another process: {place}: {reason}"
        raise UnserializableError(message=message) from error


def _find_refused(value: Any, error: Exception) -> tuple[str, Exception]:
    """Returns the place of the innermost part that pickle refuses, as in `$.rows[3].lock`."""
    place, seen = "$", 0
    while True:
        for step, part in _parts(value):
            seen += 1
            refusal = _refusal(part) if seen < MAX_PARTS else None
            if refusal is not None:
                place, value, error = place + step, part, refusal
                break
        else:
            return place, error


def _refusal(value: Any) -> Exception | None:
    try:
        pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return error
    return None


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    container: Any = value
    if isinstance(value, Mapping):
        yield from ((f".{key}", part) for key, part in container.items())
    elif isinstance(value, list | tuple | set | frozenset):
        yield from ((f"[{n}]", part) for n, part in enumerate(container))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield f".{field.name}", getattr(value, field.name, None)
    elif not isinstance(value, type) and not callable(value):
        yield from ((f".{key}", part) for key, part in getattr(value, "__dict__", {}).items())
