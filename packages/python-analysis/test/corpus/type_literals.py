from __future__ import annotations
from windlass import ExecutionContext, workflow
from typing import Literal, Union
Kind = Literal["a", "b"]
@workflow
async def job(ctx: ExecutionContext[Union[Kind, Literal[1, True, None]]]): ...
