"""Schedules on the server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any
from urllib.parse import quote

from windlass._json import encode
from windlass._payloads import Payloads
from windlass.client._models import ScheduleRow, TickRow
from windlass.client._targets import Target, to_names
from windlass.client._transport import Transport
from windlass.domain.schedule import Schedule

PAGE = 100


class AsyncSchedules:
    """Schedules, each given by its id or name."""

    def __init__(self, transport: Transport, payloads: Payloads) -> None:
        self._transport = transport
        self._payloads = payloads

    def _to_row(self, members: dict[str, Any]) -> ScheduleRow:
        input_data = self._payloads.unwrap_value(members.get("input_data"))
        return ScheduleRow.from_json({**members, "input_data": input_data})

    async def list(
        self, workflow: Target | None = None, *, active_only: bool = False
    ) -> list[ScheduleRow]:
        """Returns the schedules, newest first, of one workflow or all that the caller may read."""
        query: dict[str, Any] = {"active_only": active_only}
        if workflow is not None:
            query["workflow_name"] = "/".join(to_names(workflow))
        rows = await self._transport.request("GET", "/schedules", query=query)
        return [self._to_row(row) for row in rows]

    async def get(self, schedule: str) -> ScheduleRow:
        """Returns a schedule with its input."""
        return self._to_row(await self._transport.request("GET", _path(schedule)))

    async def create(
        self,
        workflow: Target,
        name: str,
        schedule: Schedule,
        *,
        input: Any = None,
        description: str | None = None,
        run_as_service_account: str | None = None,
    ) -> ScheduleRow:
        """Creates a schedule: `schedule` is `cron(...)`, `interval(...)` or `once(...)`."""
        namespace, workflow_name = to_names(workflow)
        body = {
            "workflow_namespace": namespace,
            "workflow_name": workflow_name,
            "name": name,
            "schedule_config": schedule.to_dict(),
            "input_data": self._payloads.wrap_value(input),
            "description": description,
            "run_as_service_account": run_as_service_account,
        }
        created = await self._transport.request("POST", "/schedules", text=encode(body))
        return self._to_row(created)

    async def update(
        self,
        schedule: str,
        *,
        config: Schedule | None = None,
        input: Any = None,
        description: str | None = None,
        run_as_service_account: str | None = None,
    ) -> ScheduleRow:
        """Changes the given parts of a schedule; None leaves a part as it is."""
        body = {
            "schedule_config": config.to_dict() if config else None,
            "input_data": self._payloads.wrap_value(input),
            "description": description,
            "run_as_service_account": run_as_service_account,
        }
        given = {name: value for name, value in body.items() if value is not None}
        path, text = _path(schedule), encode(given)
        changed = await self._transport.request("PUT", path, text=text, is_repeatable=True)
        return self._to_row(changed)

    async def pause(self, schedule: str) -> ScheduleRow:
        """Pauses a schedule: it does not fire."""
        path = f"{_path(schedule)}/pause"
        answer = await self._transport.request("POST", path, is_repeatable=True)
        return self._to_row(answer)

    async def resume(self, schedule: str) -> ScheduleRow:
        """Resumes a paused schedule."""
        path = f"{_path(schedule)}/resume"
        answer = await self._transport.request("POST", path, is_repeatable=True)
        return self._to_row(answer)

    async def delete(self, schedule: str) -> None:
        """Deletes a schedule."""
        await self._transport.request("DELETE", _path(schedule))

    async def history(self, schedule: str) -> AsyncIterator[TickRow]:
        """Yields the ticks, newest first, page by page."""
        offset = 0
        while True:
            query = {"limit": PAGE, "offset": offset}
            page = await self._transport.request("GET", f"{_path(schedule)}/history", query=query)
            for entry in page["entries"]:
                yield TickRow.from_json(entry)
            offset += len(page["entries"])
            if len(page["entries"]) < PAGE:
                return

    async def next(self, schedule: str, count: int = 10) -> Sequence[str]:
        """Returns the next times (ISO 8601) at which the schedule fires."""
        answer = await self._transport.request(
            "GET", f"{_path(schedule)}/next", query={"count": count}
        )
        return [tick["at"] for tick in answer["next"]]


def _path(schedule: str) -> str:
    return f"/schedules/{quote(schedule, safe='')}"
