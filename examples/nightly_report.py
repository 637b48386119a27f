"""A workflow with a schedule: the upload creates the schedule `nightly_report_auto`."""

from datetime import datetime

from windlass import ExecutionContext, cron, now, task, workflow

CITIES = ["Berlin", "Lisbon", "Quito", "Seoul"]


@task
async def measure(city: str, day: str) -> int:
    return len(city) + len(day)


@workflow.with_options(schedule=cron("0 3 * * *", "Europe/Berlin", overlap="skip"))
async def nightly_report(ctx: ExecutionContext[None]) -> dict[str, int]:
    # The time is recorded, so a run that is repeated after a crash reports the same day.
    started: datetime = await now()
    day = started.date().isoformat()
    return {city: await measure(city, day) for city in CITIES}
