from __future__ import annotations
from windlass import ExecutionContext, workflow
import numpy as np
from mylib import Thing
class Odd(Thing):
    x: int

@workflow
async def job(ctx: ExecutionContext[tuple[np.ndarray, Thing, Odd, list[Missing], int]]): ...
