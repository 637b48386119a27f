from windlass import ExecutionContext, task, workflow

class Settings:
    NS = "billing"
    ALL = ["a"] + ["b"]
BASE = {"namespace": Settings.NS}
MORE = BASE | dict(name="x" * 1 if False else "y") if False else BASE
@workflow.with_options(**BASE, secret_requests=[*Settings.ALL, "c"], queue_timeout=-(-5) ** 1)
async def job(ctx): ...
