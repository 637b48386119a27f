"""A task that is retried with growing delays, and a fallback after the last attempt.

The input is the address of a JSON document, such as `"https://example.org/rates.json"`.
"""

import json
import urllib.request
from datetime import timedelta
from typing import Any

from windlass import ExecutionContext, NonRetryable, Retry, task, workflow


async def default_rates(url: str) -> dict[str, Any]:
    return {"EUR": 1}


RETRY = Retry(attempts=5, delay=timedelta(milliseconds=100), backoff=2, max_delay=60)


@task.with_options(retry=RETRY, timeout=30, fallback=default_rates)
def fetch_rates(url: str) -> dict[str, Any]:
    # A plain function runs in a thread and may block.
    with urllib.request.urlopen(url, timeout=10) as response:
        return dict(json.load(response))


@task
async def validate(rates: dict[str, Any]) -> dict[str, float]:
    if "EUR" not in rates:
        raise NonRetryable("the rates have no EUR")
    return {currency: float(rate) for currency, rate in rates.items()}


@workflow
async def exchange_rates(ctx: ExecutionContext[str]) -> dict[str, float]:
    return await validate(await fetch_rates(ctx.input))
