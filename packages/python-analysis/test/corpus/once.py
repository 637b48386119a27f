from datetime import datetime, timezone
from windlass import once, workflow
@workflow.with_options(schedule=once(datetime(2030, 1, 2, 3, 4, tzinfo=timezone.utc)))
async def job(ctx): ...
