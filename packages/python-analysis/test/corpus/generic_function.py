from windlass import ExecutionContext, task, workflow

@workflow
async def job[T](ctx: ExecutionContext[T]) -> T: ...
