from __future__ import annotations
from windlass import ExecutionContext, workflow
from pydantic import BaseModel, RootModel
class Item(BaseModel):
    n: int
class Items(RootModel[list[Item]]): ...

@workflow
async def job(ctx: ExecutionContext[Items]): ...
