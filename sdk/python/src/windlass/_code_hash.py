"""Hash of a function's code: differs between functions whose results may differ."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from functools import partial
from types import CodeType
from typing import Any


def code_hash(func: Callable[..., Any]) -> str:
    """Returns a hash of the bytecode of a function, its constants, names and default arguments.

    The same source has the same hash in every process of one Python version. Functions that it
    calls are not part of it.
    """
    while isinstance(func, partial):
        func = func.func
    if not inspect.isroutine(func) and not isinstance(func, type):
        func = getattr(type(func), "__call__", func)  # noqa: B004
    func = getattr(func, "__func__", func)
    code = getattr(func, "__code__", None)
    defaults = (getattr(func, "__defaults__", None), getattr(func, "__kwdefaults__", None))
    form = (getattr(func, "__qualname__", ""), code, defaults)
    return hashlib.sha256(_to_text(form).encode(errors="surrogatepass")).hexdigest()


def find_bound(func: Callable[..., Any]) -> list[Any]:
    """Returns the values that are bound to a function and on which its results may depend.

    Those are the arguments of a `partial`, the object of a bound method, and the attributes of an
    object with `__call__`. The list is empty for plain functions.
    """
    if isinstance(func, partial):
        return [list(func.args), func.keywords, *find_bound(func.func)]
    receiver = getattr(func, "__self__", None)
    if receiver is None and (inspect.isroutine(func) or isinstance(func, type)):
        return []
    bound: Any = func if receiver is None else receiver
    is_identified = isinstance(bound, type) or hasattr(bound, "__windlass_id__")
    # The call id of an object that can be called contains only its name.
    return [bound if is_identified or not callable(bound) else getattr(bound, "__dict__", {})]


def _to_text(value: Any) -> str:
    container: Any = value
    if isinstance(value, CodeType):
        parts = (value.co_code, value.co_consts, value.co_names, value.co_varnames)
        return f"code({_to_text((*parts, value.co_freevars))})"
    if isinstance(value, tuple | list):
        return f"[{','.join(_to_text(item) for item in container)}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{key!r}:{_to_text(item)}' for key, item in container.items())}}}"
    if isinstance(value, set | frozenset):
        # The order of a set differs between processes.
        return f"set({','.join(sorted(_to_text(item) for item in container))})"
    if value is None or isinstance(value, str | bytes | int | float | complex):
        return f"{type(value).__name__}:{value!r}"
    # The representation of other objects may contain their address.
    return f"object:{type(value).__module__}.{type(value).__qualname__}"
