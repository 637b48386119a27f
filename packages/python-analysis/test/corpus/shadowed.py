from windlass import task, workflow
def workflow(f): return f
@workflow
async def not_one(ctx): ...
from windlass import workflow
@workflow
async def one(ctx): ...
workflow = None
