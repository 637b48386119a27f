from __future__ import annotations
from windlass import ExecutionContext, workflow
from typing import NotRequired, Required, TypedDict
class A(TypedDict):
    x: int
    y: NotRequired[str]
class B(A, total=False):
    z: Required[bool]
    w: float

@workflow
async def job(ctx: ExecutionContext[B]): ...
