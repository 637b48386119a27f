"""Schedules on the server, for synchronous code."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

from windlass.client._async_schedules import AsyncSchedules
from windlass.client._caller import Caller
from windlass.client._models import ScheduleRow, TickRow
from windlass.client._targets import Target
from windlass.domain.schedule import Schedule

T = TypeVar("T")


class Schedules:
    """Schedules, each given by its id or name; methods as those of AsyncSchedules."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self, workflow: Target | None = None, *, active_only: bool = False
    ) -> list[ScheduleRow]:
        """Returns the schedules, newest first."""
        return self._call(lambda schedules: schedules.list(workflow, active_only=active_only))

    def get(self, schedule: str) -> ScheduleRow:
        """Returns a schedule with its input."""
        return self._call(lambda schedules: schedules.get(schedule))

    def create(
        self,
        workflow: Target,
        name: str,
        schedule: Schedule,
        *,
        input: Any = None,
        description: str | None = None,
        run_as_service_account: str | None = None,
    ) -> ScheduleRow:
        """Creates a schedule; see `AsyncSchedules.create`."""
        return self._call(
            lambda schedules: schedules.create(
                workflow,
                name,
                schedule,
                input=input,
                description=description,
                run_as_service_account=run_as_service_account,
            )
        )

    def update(
        self,
        schedule: str,
        *,
        config: Schedule | None = None,
        input: Any = None,
        description: str | None = None,
        run_as_service_account: str | None = None,
    ) -> ScheduleRow:
        """Changes the given parts of a schedule; None leaves a part as it is."""
        return self._call(
            lambda schedules: schedules.update(
                schedule,
                config=config,
                input=input,
                description=description,
                run_as_service_account=run_as_service_account,
            )
        )

    def pause(self, schedule: str) -> ScheduleRow:
        """Pauses a schedule: it does not fire."""
        return self._call(lambda schedules: schedules.pause(schedule))

    def resume(self, schedule: str) -> ScheduleRow:
        """Resumes a paused schedule."""
        return self._call(lambda schedules: schedules.resume(schedule))

    def delete(self, schedule: str) -> None:
        """Deletes a schedule."""
        self._call(lambda schedules: schedules.delete(schedule))

    def history(self, schedule: str) -> Iterator[TickRow]:
        """Yields the ticks, newest first, page by page."""
        return self._caller.iterate(lambda client: client.schedules.history(schedule))

    def next(self, schedule: str, count: int = 10) -> Iterator[str]:
        """Yields the next times (ISO 8601) at which the schedule fires."""
        return iter(self._call(lambda schedules: schedules.next(schedule, count)))

    def _call(self, func: Callable[[AsyncSchedules], Coroutine[Any, Any, T]]) -> T:
        return self._caller.call(lambda client: func(client.schedules))
