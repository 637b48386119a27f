# -*- coding: utf-8 -*-
from windlass import ExecutionContext, task, workflow
@workflow
async def grüße(ctx): ...
