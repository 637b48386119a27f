from windlass import ExecutionContext, task, workflow

class Flows:
    @workflow
    async def inside(ctx): ...
    class Deeper:
        @workflow.with_options(name="deep")
        async def inside(ctx): ...
