import windlass.domain.schedule as when
import windlass as w
EVERY = "@daily"
@w.workflow.with_options(schedule=when.cron(EVERY))
async def job(ctx): ...
