from flux import ExecutionContext, task, workflow
from flux.domain.resource_request import ResourceRequest
@task
async def t(): ...
@workflow.with_options(requests=ResourceRequest.with_gpu(1))
async def job(ctx: ExecutionContext[dict[str, int]]):
    return await t()
