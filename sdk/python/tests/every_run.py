"""Comparison of what workflows see in the first run of an execution and in every replay."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from pathlib import PurePath
from typing import Any

from run_fixture import FakeServices, resuming, run_from
from windlass import ExecutionContext, ExecutionEvent, task, workflow
from windlass._json import encode, loads

_RECORD = {"__windlass_failure__", "inner_exception"}


def form_of(value: Any) -> Any:
    """Returns a form that two values share only if they, and all their parts, are of equal types.

    Of an exception, the form contains the classes that catch it, text, arguments, attributes,
    notes, cause and members.
    """
    kind = type(value)
    if isinstance(value, BaseException):
        classes = [each.__name__ for each in kind.__mro__]
        members = value.exceptions if isinstance(value, BaseExceptionGroup) else ()
        own = {name: part for name, part in vars(value).items() if name not in _RECORD}
        parts = (str(value), value.args, own, value.__cause__, members)
        return classes, [form_of(part) for part in parts]
    if isinstance(value, Enum | PurePath):
        return kind, repr(value)
    if isinstance(value, str | bytes | bytearray | memoryview | int | float) or value is None:
        return kind, bytes(value) if isinstance(value, memoryview) else repr(value)
    if isinstance(value, Mapping):
        return kind, [(form_of(key), form_of(part)) for key, part in value.items()]
    if isinstance(value, AbstractSet):
        return kind, sorted((form_of(part) for part in value), key=repr)
    if isinstance(value, Sequence):
        return kind, [form_of(part) for part in value]
    slots = [name for each in kind.__mro__ for name in getattr(each, "__slots__", ())]
    # Those of pydantic are not part of the value.
    slots = [name for name in slots if hasattr(value, name) and not name.startswith("__")]
    fields = {name: getattr(value, name) for name in slots} | getattr(value, "__dict__", {})
    return (kind, form_of(fields)) if fields else (kind, repr(value))


Body = Callable[[list[Any], Any], Awaitable[None]]


async def run_and_replay(
    body: Body, input: Any = None, resumes: Sequence[Any] = ()
) -> tuple[list[Any], list[ExecutionEvent]]:
    """Runs a workflow of this body, then from each cut of its log; compares what it has seen.

    Returns what the body saw, and the log.
    """
    seen: list[Any] = []

    @workflow
    async def runs(ctx: ExecutionContext[Any]) -> None:
        seen.clear()
        await body(seen, ctx.input)

    log: list[ExecutionEvent] = []
    answers = iter(resumes)
    while not log or log[-1].type == "WORKFLOW_PAUSED":
        if log:
            log.append(resuming(next(answers)))
        log += (await run_from(runs, log, loads(encode(input)), _services())).events
    assert log[-1].type == "WORKFLOW_COMPLETED", log[-1].value
    expected = [form_of(part) for part in seen]
    given = list(seen)
    for cut in range(len(log)):
        if any(event.type == "WORKFLOW_RESUMING" for event in log[cut:]):
            continue
        seen.clear()
        events = (await run_from(runs, log[:cut], loads(encode(input)), _services())).events
        assert events[-1].type == "WORKFLOW_COMPLETED", (cut, events[-1].value)
        assert [form_of(part) for part in seen] == expected, f"after {cut} events"
    return given, log


def _services() -> FakeServices:
    services = FakeServices()
    services.stored_values = {"KEY": {"password": "p"}, "limit": 3}
    return services


def task_of(returned: Any, annotation: Any = None, **options: Any) -> Any:
    """Returns a task of this result; None is no annotation."""

    async def gives(position: int = 0) -> Any:
        return returned() if callable(returned) else returned

    if annotation is None:
        del gives.__annotations__["return"]
    else:
        gives.__annotations__["return"] = annotation
    return task.with_options(**options)(gives)
