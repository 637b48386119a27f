# -*- coding: latin-1 -*-
from windlass import ExecutionContext, task, workflow
@workflow
async def job(ctx): "ä"
