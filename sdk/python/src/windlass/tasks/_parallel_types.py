"""Types of `parallel`.

Up to ten calls have the type of a tuple, so that each position keeps its type; the value is a list
with as many elements, as that of `asyncio.gather`. More calls, and `*calls`, have that of a list.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Literal, Protocol, TypeAlias, TypeVar, Unpack, overload

from windlass._options import TaskOptionNames
from windlass.errors import ExecutionError

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")
G = TypeVar("G")
H = TypeVar("H")
I = TypeVar("I")  # noqa: E741
J = TypeVar("J")

Ended: TypeAlias = T | ExecutionError


class ParallelTask(Protocol):
    """The task `parallel`, as type checkers see it; `Parallel` is its class."""

    @overload
    async def __call__(
        self,
        a: Awaitable[A],
        b: Awaitable[B],
        /,
        *,
        limit: int | None = None,
        return_exceptions: Literal[False] = False,
    ) -> tuple[A, B]: ...
    @overload
    async def __call__(
        self,
        a: Awaitable[A],
        b: Awaitable[B],
        c: Awaitable[C],
        /,
        *,
        limit: int | None = None,
        return_exceptions: Literal[False] = False,
    ) -> tuple[A, B, C]: ...
    @overload
    async def __call__(
        self,
        a: Awaitable[A],
        b: Awaitable[B],
        c: Awaitable[C],
        d: Awaitable[D],
        /,
        *,
        limit: int | None = None,
        return_exceptions: Literal[False] = False,
    ) -> tuple[A, B, C, D]: ...
    @overload
    async def __call__(
        self,
        a: Awaitable[A],
        b: Awaitable[B],
        c: Awaitable[C],
        d: Awaitable[D],
        e: Awaitable[E],
        /,
        *,
        limit: int | None = None,
        return_exceptions: Literal[False] = False,
    ) -> tuple[A, B, C, D, E]: ...
    @overload
    async def __call__(
        self,
        a: Awaitable[A],
        b: Awaitable[B],
        c: Awaitable[C],
        d: Awaitable[D],
        e: Awaitable[E],
        f: Awaitable[F],
        /,
        *,
        limit: int | None = None,
        return_exceptions: Literal[False] = False,
    ) -> tuple[A, B, C, D, E, F]: ...
    @overload
    async def __call__(
        self,
        a: Awaitable[A],
        b: Awaitable[B],
        c: Awaitable[C],
        d: Awaitable[D],
        e: Awaitable[E],
        f: Awaitable[F],
        g: Awaitable[G],
        /,
        *,
        limit: int | None = None,
        return_exceptions: Literal[False] = False,
    ) -> tuple[A, B, C, D, E, F, G]: ...
    @overload
    async def __call__(
        self,
        a: Awaitable[A],
        b: Awaitable[B],
        c: Awaitable[C],
        d: Awaitable[D],
        e: Awaitable[E],
        f: Awaitable[F],
        g: Awaitable[G],
        h: Awaitable[H],
        /,
        *,
        limit: int | None = None,
        return_exceptions: Literal[False] = False,
    ) -> tuple[A, B, C, D, E, F, G, H]: ...
    @overload
    async def __call__(
        self,
        a: Awaitable[A],
        b: Awaitable[B],
        c: Awaitable[C],
        d: Awaitable[D],
        e: Awaitable[E],
        f: Awaitable[F],
        g: Awaitable[G],
        h: Awaitable[H],
        i: Awaitable[I],
        /,
        *,
        limit: int | None = None,
        return_exceptions: Literal[False] = False,
    ) -> tuple[A, B, C, D, E, F, G, H, I]: ...
    @overload
    async def __call__(
        self,
        a: Awaitable[A],
        b: Awaitable[B],
        c: Awaitable[C],
        d: Awaitable[D],
        e: Awaitable[E],
        f: Awaitable[F],
        g: Awaitable[G],
        h: Awaitable[H],
        i: Awaitable[I],
        j: Awaitable[J],
        /,
        *,
        limit: int | None = None,
        return_exceptions: Literal[False] = False,
    ) -> tuple[A, B, C, D, E, F, G, H, I, J]: ...
    @overload
    async def __call__(
        self,
        a: Awaitable[A],
        b: Awaitable[B],
        /,
        *,
        limit: int | None = None,
        return_exceptions: Literal[True],
    ) -> tuple[Ended[A], Ended[B]]: ...
    @overload
    async def __call__(
        self,
        a: Awaitable[A],
        b: Awaitable[B],
        c: Awaitable[C],
        /,
        *,
        limit: int | None = None,
        return_exceptions: Literal[True],
    ) -> tuple[Ended[A], Ended[B], Ended[C]]: ...
    @overload
    async def __call__(
        self,
        a: Awaitable[A],
        b: Awaitable[B],
        c: Awaitable[C],
        d: Awaitable[D],
        /,
        *,
        limit: int | None = None,
        return_exceptions: Literal[True],
    ) -> tuple[Ended[A], Ended[B], Ended[C], Ended[D]]: ...
    @overload
    async def __call__(
        self,
        a: Awaitable[A],
        b: Awaitable[B],
        c: Awaitable[C],
        d: Awaitable[D],
        e: Awaitable[E],
        /,
        *,
        limit: int | None = None,
        return_exceptions: Literal[True],
    ) -> tuple[Ended[A], Ended[B], Ended[C], Ended[D], Ended[E]]: ...
    @overload
    async def __call__(
        self,
        a: Awaitable[A],
        b: Awaitable[B],
        c: Awaitable[C],
        d: Awaitable[D],
        e: Awaitable[E],
        f: Awaitable[F],
        /,
        *,
        limit: int | None = None,
        return_exceptions: Literal[True],
    ) -> tuple[Ended[A], Ended[B], Ended[C], Ended[D], Ended[E], Ended[F]]: ...
    @overload
    async def __call__(
        self,
        a: Awaitable[A],
        b: Awaitable[B],
        c: Awaitable[C],
        d: Awaitable[D],
        e: Awaitable[E],
        f: Awaitable[F],
        g: Awaitable[G],
        /,
        *,
        limit: int | None = None,
        return_exceptions: Literal[True],
    ) -> tuple[Ended[A], Ended[B], Ended[C], Ended[D], Ended[E], Ended[F], Ended[G]]: ...
    @overload
    async def __call__(
        self,
        a: Awaitable[A],
        b: Awaitable[B],
        c: Awaitable[C],
        d: Awaitable[D],
        e: Awaitable[E],
        f: Awaitable[F],
        g: Awaitable[G],
        h: Awaitable[H],
        /,
        *,
        limit: int | None = None,
        return_exceptions: Literal[True],
    ) -> tuple[
        Ended[A],
        Ended[B],
        Ended[C],
        Ended[D],
        Ended[E],
        Ended[F],
        Ended[G],
        Ended[H],
    ]: ...
    @overload
    async def __call__(
        self,
        a: Awaitable[A],
        b: Awaitable[B],
        c: Awaitable[C],
        d: Awaitable[D],
        e: Awaitable[E],
        f: Awaitable[F],
        g: Awaitable[G],
        h: Awaitable[H],
        i: Awaitable[I],
        /,
        *,
        limit: int | None = None,
        return_exceptions: Literal[True],
    ) -> tuple[
        Ended[A],
        Ended[B],
        Ended[C],
        Ended[D],
        Ended[E],
        Ended[F],
        Ended[G],
        Ended[H],
        Ended[I],
    ]: ...
    @overload
    async def __call__(
        self,
        a: Awaitable[A],
        b: Awaitable[B],
        c: Awaitable[C],
        d: Awaitable[D],
        e: Awaitable[E],
        f: Awaitable[F],
        g: Awaitable[G],
        h: Awaitable[H],
        i: Awaitable[I],
        j: Awaitable[J],
        /,
        *,
        limit: int | None = None,
        return_exceptions: Literal[True],
    ) -> tuple[
        Ended[A],
        Ended[B],
        Ended[C],
        Ended[D],
        Ended[E],
        Ended[F],
        Ended[G],
        Ended[H],
        Ended[I],
        Ended[J],
    ]: ...
    @overload
    async def __call__(
        self,
        *calls: Awaitable[T],
        limit: int | None = None,
        return_exceptions: Literal[False] = False,
    ) -> list[T]: ...
    @overload
    async def __call__(
        self, *calls: Awaitable[T], limit: int | None = None, return_exceptions: bool
    ) -> list[Ended[T]]: ...

    def with_options(self, **options: Unpack[TaskOptionNames]) -> ParallelTask:
        """Returns a copy with some options changed; see `TaskOptions`."""
        ...
