from windlass import workflow; x = 1; y = 2;
@workflow
async def job(ctx): pass; return 1
