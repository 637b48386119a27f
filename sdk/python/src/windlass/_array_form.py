"""Identity of arrays and data frames, which is their content.

The content of arrays, series and polars frames is part of call ids; earlier releases refused them.
A pandas data frame is identified in call ids only by its type, because the ids of executions in
flight must not change; its content is only part of the key of a cached result.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from windlass._narrow import class_of


def array_form(value: Any) -> dict[str, Any] | None:
    """Returns type and content of an array, number or series that a call id identifies, or None."""
    kind = class_of(value)
    match kind.__module__.split(".")[0], kind.__name__:
        case "numpy", _ if hasattr(value, "dtype"):
            return _numpy_form(value)
        case "polars", "DataFrame":
            rows = value.to_dict(as_series=False)
            return {"__frame__": "polars", "types": str(value.schema), "content": rows}
        case "polars", "Series":
            return {"__series__": str(value.dtype), "name": value.name, "content": value.to_list()}
        case "pandas", name if name != "DataFrame" and hasattr(value, "dtype"):
            return {"__series__": name, "content": hash_frames(value)}
        case _:
            return None


def _numpy_form(value: Any) -> dict[str, Any]:
    # An array of objects holds addresses.
    exact = value.tolist() if value.dtype.hasobject else None
    content = hashlib.sha256(value.tobytes()).hexdigest() if exact is None else exact
    return {"__array__": value.dtype.str, "shape": list(value.shape), "content": content}


def hash_frames(arguments: Any) -> str:
    """Returns a hash of the pandas objects in lists, tuples and dictionaries; empty without one.

    Raises TypeError for frames with cells that pandas cannot hash.
    """
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return ""
    digest, count = hashlib.sha256(), 0
    for frame in _frames(arguments, (pandas.DataFrame, pandas.Series, pandas.Index)):
        names = getattr(frame, "columns", [getattr(frame, "name", None)])
        types = getattr(frame, "dtypes", None)
        digest.update(f"{type(frame).__name__}{list(names)!r}{frame.shape}{types!r}".encode())
        digest.update(pandas.util.hash_pandas_object(frame, index=True).to_numpy().tobytes())
        count += 1
    return digest.hexdigest() if count else ""


def _frames(value: Any, kinds: tuple[type, ...]) -> Iterator[Any]:
    todo: list[Any] = [value]
    while todo:
        container: Any = (item := todo.pop())
        if isinstance(item, kinds):
            yield item
        elif isinstance(item, Mapping):
            todo += reversed(list(container.values()))
        elif isinstance(item, list | tuple):
            todo += reversed(container)
