from windlass import ExecutionContext, task, workflow

"""
@workflow
async def no(ctx): ...
"""
# @workflow
# async def nor(ctx): ...
x = f"""{1}
@workflow
async def neither(ctx): ...
"""
@workflow  # this one
async def job(ctx):  # async def and_not(ctx):
    "@task"
