from __future__ import annotations
from windlass import ExecutionContext, workflow
from typing import Union
Json = Union[str, int, None, list["Json"], dict[str, "Json"]]
type Tree = list[Tree] | int

@workflow
async def job(ctx: ExecutionContext[tuple[Json, Tree]]): ...
