from __future__ import annotations
from windlass import ExecutionContext, workflow
from pydantic import BaseModel, Field
def make(): return "a"
NAME = make()
class M(BaseModel):
    a: int = Field(alias=NAME)
    b: int

@workflow
async def job(ctx: ExecutionContext[M]): ...
