from windlass import workflow
from windlass.routing import score
@workflow.with_options(routing=score(*terms()))
async def job(ctx): ...
