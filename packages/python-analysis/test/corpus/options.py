from windlass import ResourceRequest, cron, task, workflow
from windlass.routing import input, label, least, load, prefer, score, sticky

REGION = "eu-" + "west"
SECRETS = ["db-password", "api key"]


@task.with_options(name="fetch_{url}", secret_requests=["token"], required_permissions=["net:out"])
async def fetch(url): ...


@workflow.with_options(
    name="report",
    namespace="shop",
    secret_requests=SECRETS,
    required_permissions=("reports:run",),
    requests=ResourceRequest(cpu=2, memory="512Mi", gpu=0, disk=1024, packages=["numpy>=1.2", "PIL"]),
    affinity={"region": REGION, "ssd": True, "rack": 4},
    schedule=cron("0 9 * * MON-FRI", timezone="Europe/Berlin"),
    durability="durable",
    runner="subprocess",
    queue_timeout=2 * 60,
    priority=8,
    tags={"team": "billing", "region": REGION},
    routing=score(
        prefer(label("zone") == input("customer.zone"), weight=10),
        prefer(3 < load),
        least(load, 2),
        sticky(weight=0.5),
    ),
)
async def make_report(ctx):
    """Makes it."""
    await fetch("https://example.com")
