from windlass import *
@workflow
async def job(ctx): await sleep(1)
