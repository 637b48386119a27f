from windlass import ExecutionContext, task, workflow
import functools
@functools.cache
@workflow
@functools.wraps(print)
async def job(ctx): ...
