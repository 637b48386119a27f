from windlass import ExecutionContext, task, workflow
NAMES = ["a"]
NAMES.append(read())
@workflow.with_options(secret_requests=NAMES)
async def job(ctx): ...
