"""Narrowing of values of any type.

`isinstance` leaves the types of members unknown, which pyright reports in its strict mode. Hot code
assigns the value to a second variable instead, which no check narrows.
"""

from __future__ import annotations

from typing import Any, TypeGuard


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """Returns True for a dictionary, such as a JSON object."""
    return isinstance(value, dict)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Returns True for a list, such as a JSON array."""
    return isinstance(value, list)


def is_tuple(value: Any) -> TypeGuard[tuple[Any, ...]]:
    """Returns True for a tuple."""
    return isinstance(value, tuple)


def class_of(value: object) -> type:
    """Returns the class of a value."""
    return type(value)
