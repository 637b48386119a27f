import windlass
from windlass import workflow as wf
a = wf
b = c = a
run_with = c.with_options
options = {"namespace": "x"}
@b
async def one(ctx): ...
@run_with(name="two", **options)
async def f(ctx): ...
ready = windlass.workflow.with_options(name="three")
@ready
async def g(ctx): ...
