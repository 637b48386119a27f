from windlass import ExecutionContext, task, workflow

@task
async def called(): await indirectly()
@task
async def indirectly(): ...
@task
async def passed(x): ...
@task.with_options(auth_exempt=True)
async def in_table(): ...
@task.with_options(secret_requests=["never"])
async def unreached(): ...
@task
def plain(): ...

TABLE = {"a": in_table}

def helper():
    return plain()

class Service:
    @task
    async def method(self): ...
    def other(self): return self.method()

@workflow
async def job(ctx):
    await called()
    for f in (passed,):
        await f(1)
    TABLE["a"]()
    helper()
    Service().other()
