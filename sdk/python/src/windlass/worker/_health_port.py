"""Health port: `/live`, `/ready` and `/metrics` for probes and Prometheus, without credentials."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

from aiohttp import web

from windlass.worker._health import Health

log = logging.getLogger("windlass.worker")

TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8"
PREFIX = "windlass_worker_"


@asynccontextmanager
async def health_port(host: str, port: int | None, health: Health) -> AsyncGenerator[None, None]:
    """Serves the port while the context is open; without a port it does nothing."""
    if port is None:
        yield
        return
    app = web.Application()
    app.add_routes(
        [
            web.get("/live", _live),
            web.get("/ready", partial(_ready, health)),
            web.get("/metrics", partial(_metrics, health)),
        ]
    )
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        bound = runner.addresses[0][1]
        log.info("health port: http://%s:%d", host, bound)
        yield
    finally:
        await runner.cleanup()


async def _live(_: web.Request) -> web.Response:
    return web.json_response({"status": "live"})


async def _ready(health: Health, _: web.Request) -> web.Response:
    reason = health.unready_reason
    if reason is None:
        return web.json_response({"status": "ready"})
    return web.json_response({"status": "not-ready", "reason": reason}, status=503)


async def _metrics(health: Health, _: web.Request) -> web.Response:
    return web.Response(body=to_text(health).encode(), headers={"Content-Type": TEXT_FORMAT})


def to_text(health: Health) -> str:
    """Returns the metrics in the text format of Prometheus."""
    lines: list[str] = []
    for name, value in health.built_in_metrics().items():
        lines += [f"# TYPE {PREFIX}{name} gauge", f"{PREFIX}{name} {value}"]
    lines.append(f"# TYPE {PREFIX}executions_total counter")
    for outcome, count in health.ends_by_outcome.items():
        lines.append(f'{PREFIX}executions_total{{outcome="{outcome}"}} {count}')
    return "\n".join(lines) + "\n"
