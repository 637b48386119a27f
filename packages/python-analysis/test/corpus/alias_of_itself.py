from __future__ import annotations
from windlass import ExecutionContext, workflow
from typing import Union
A = Union["A", int]

@workflow
async def job(ctx: ExecutionContext[A]): ...
