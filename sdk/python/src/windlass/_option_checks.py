"""Checks of the values of options. Each raises TypeError or ValueError."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

_MAX_PRIORITY = 9
_MAX_TAGS = 16
_TAG_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_TAG_VALUE = re.compile(r"[^,\x00-\x1f\x7f-\x9f\ud800-\udfff]{0,128}")


def to_seconds(name: str, value: Any) -> float:
    """Returns a duration, given in seconds or as a timedelta, in seconds."""
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be seconds or a timedelta, not {value!r}")
    check_number(name, value)
    return float(value)


def check_number(name: str, value: Any) -> None:
    """Refuses everything but finite numbers of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, not {value!r}")
    if not 0 <= value < math.inf:
        raise ValueError(f"{name} must be a number of at least 0, not {value!r}")


def check_count(name: str, value: Any) -> None:
    """Refuses everything but integers of at least 0."""
    if type(value) is not int:
        raise TypeError(f"{name} must be an integer, not {value!r}")
    check_number(name, value)


def check_flag(name: str, value: Any) -> None:
    """Refuses everything but True and False."""
    if type(value) is not bool:
        raise TypeError(f"{name} must be True or False, not {value!r}")


def check_name(value: Any) -> None:
    """Refuses everything but None and a text that is not empty."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"name must be text, not {value!r}")
    if value == "":
        raise ValueError("name must not be empty")


def check_texts(name: str, value: Any) -> None:
    """Refuses everything but a sequence of text, above all a single text."""
    items: Any = value
    if (
        isinstance(value, str)
        or not isinstance(value, Sequence)
        or not all(isinstance(item, str) for item in items)
    ):
        raise TypeError(f"{name} must be a list of text, not {value!r}")


def check_labels(name: str, value: Any) -> None:
    """Refuses everything but None and a mapping whose keys and values have one text."""
    labels: Any = value
    if value is not None and not (
        isinstance(value, Mapping)
        and all(isinstance(part, str | int | float) for item in labels.items() for part in item)
    ):
        raise TypeError(f"{name} must be a mapping of text to text, not {value!r}")


def check_storage(value: Any) -> None:
    """Refuses everything but None and an object with the methods of OutputStorage."""
    if value is not None and not (
        callable(getattr(value, "store", None)) and callable(getattr(value, "retrieve", None))
    ):
        raise TypeError(f"output_storage must be an OutputStorage, not {value!r}")


def check_queue_timeout(value: Any) -> None:
    """Refuses everything but None, a positive, finite number and a positive timedelta."""
    if isinstance(value, timedelta):
        value = value.total_seconds()
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (is_number and 0 < value < math.inf):
        raise ValueError(f"queue_timeout must be seconds or a timedelta above 0, not {value!r}")


def check_priority(value: Any) -> None:
    """Refuses everything but None and a whole number from 0 to 9."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if value is not None and not (is_whole and 0 <= value <= _MAX_PRIORITY):
        raise ValueError(f"priority must be a whole number from 0 to 9, not {value!r}")


def check_tags(value: Any) -> None:
    """Refuses everything but None and a mapping of at most 16 valid tags."""
    tags: Any = value
    if value is None:
        return
    if not (
        isinstance(value, Mapping)
        and all(isinstance(part, str) for item in tags.items() for part in item)
    ):
        raise TypeError(f"tags must be a mapping of text to text, not {value!r}")
    if len(tags) > _MAX_TAGS:
        raise ValueError(f"tags may have at most {_MAX_TAGS} entries, not {len(tags)}")
    for key, text in tags.items():
        if not (_TAG_KEY.fullmatch(key) and _TAG_VALUE.fullmatch(text)):
            raise ValueError(
                f"invalid tag {key!r}: a key has up to 63 letters, digits, '.', '_' and '-', a"
                " value up to 128 characters without commas and control characters"
            )
