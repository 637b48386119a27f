from windlass import ExecutionContext, task, workflow

@workflow
async def job(self, context: ExecutionContext[int]): ...
