"""JSON forms of classes that the SDK does not know.

Results of tasks, inputs, outputs and resume bodies are JSON in the log. Known are the JSON types,
dataclasses, pydantic models, attrs classes, TypedDict, NamedTuple, enums, dates and times,
timedelta (seconds), Decimal, UUID, Path, bytes (base64), sets and tuples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from windlass._plain import registered

__all__ = ["register"]

T = TypeVar("T")


def register(cls: type[T], encode: Callable[[T], Any], decode: Callable[[Any], T]) -> None:
    """Registers the JSON form of a class and its subclasses, in this process.

    `encode` returns a value with a JSON form; `decode` gets that form, as JSON has it, and returns
    the object. Register before the first call of a task that is annotated with the class, for
    example at the top of the source:

        values.register(Money, lambda money: str(money), Money.parse)

    Raises TypeError unless `cls` is a class and both functions are callable.
    """
    if not isinstance(cls, type) or not callable(encode) or not callable(decode):
        raise TypeError("register takes a class and two functions")
    registered[cls] = (encode, decode)
