import sys
if sys.version_info > (3, 12):
    from windlass import workflow
else:
    from flux import workflow
try:
    import uvloop
except ImportError:
    uvloop = None
if uvloop:
    @workflow
    async def fast(ctx): ...
else:
    @workflow
    async def slow(ctx): ...
