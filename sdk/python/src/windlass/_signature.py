"""Parameters of a task's function, as its calls name their arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

# Positions of arguments with the text before the value of each, in the order of a call's text.
NameOrder = Sequence[tuple[int, str]]


class Signature:
    """Parameter names of a function; maps the arguments of calls to them."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self._names: list[str] = []
        self._rest: str | None = None
        # By number of positional arguments; `_task_call` fills it.
        self.orders: dict[int, NameOrder | None] = {}
        for name, parameter in inspect.signature(func).parameters.items():
            if parameter.kind in {parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD}:
                self._names.append(name)
            elif parameter.kind is parameter.VAR_POSITIONAL:
                self._rest = name

    def bind_positional(self, args: Sequence[Any]) -> dict[str, Any]:
        """Returns the positional arguments under the names of their parameters."""
        named = dict(zip(self._names, args, strict=False))
        if self._rest:
            named[self._rest] = list(args[len(self._names) :])
        return named

    def names_of(self, count: int) -> Sequence[str] | None:
        """Returns the parameters of so many positional arguments; None unless each has its own."""
        return None if self._rest or count > len(self._names) else self._names[:count]
