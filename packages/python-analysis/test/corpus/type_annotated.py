from __future__ import annotations
from windlass import ExecutionContext, workflow
from typing import Annotated
from pydantic import Field
from annotated_types import Ge, Len
Small = Annotated[int, Ge(1), Field(lt=10, description="small")]
@workflow
async def job(ctx: ExecutionContext[Annotated[list[Small], Len(1, 3)]]): ...
