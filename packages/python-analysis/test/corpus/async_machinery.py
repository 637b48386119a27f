from windlass import ExecutionContext, task, workflow

a = c = x = y = None

@workflow
async def job(ctx):
    async with a as b, c:
        async for x in y:
            [z async for z in x if await z]
    match ctx.input:
        case {"a": [1, *rest], **others} if rest: ...
        case str() | int(): ...
        case _: ...
    try:
        pass
    except* (ValueError, TypeError) as group:
        raise
    if (n := 10) > 5: lambda *, k=1, **kw: (yield)
    del n
    global q
    return {**x, "a": 1} | {*y}
