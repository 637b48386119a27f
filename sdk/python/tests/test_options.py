"""Options of tasks and workflows: mistakes are refused when the decorator runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from run_fixture import run_from
from windlass import ExecutionContext, parallel, task, workflow


def work(a: int, b: int = 1) -> int:
    return a + b


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": 3}, "name must be text, not 3"),
        ({"name": ""}, "name must not be empty"),
        ({"name": "load_{c}"}, r"name 'load_\{c\}' refers to 'c'; the parameters are a, b"),
        ({"name": "load_{2}"}, "refers to '2'"),
        ({"name": "load_{a"}, "name 'load_{a' is not a valid template"),
        ({"retry_max_attempts": -1}, "retry_max_attempts must be a number of at least 0, not -1"),
        ({"retry_max_attempts": 1.5}, "retry_max_attempts must be an integer, not 1.5"),
        ({"retry_max_attempts": True}, "retry_max_attempts must be an integer, not True"),
        ({"retry_max_attempts": "3"}, "retry_max_attempts must be an integer, not '3'"),
        ({"retry_delay": -1}, "retry_delay must be a number of at least 0, not -1"),
        ({"retry_delay": "1"}, "retry_delay must be seconds or a timedelta, not '1'"),
        ({"retry_delay": timedelta(-1)}, "retry_delay must be a number of at least 0"),
        ({"retry_backoff": float("nan")}, "retry_backoff must be a number of at least 0, not nan"),
        ({"retry_backoff": "2"}, "retry_backoff must be a number, not '2'"),
        ({"timeout": float("inf")}, "timeout must be a number of at least 0, not inf"),
        ({"timeout": None}, "timeout must be seconds or a timedelta, not None"),
        ({"fallback": "work"}, "fallback must be a function, not 'work'"),
        ({"rollback": lambda: 1}, r"rollback does not accept the arguments of work\(a"),
        ({"fallback": lambda a, b, c: 1}, "fallback does not accept the arguments of work"),
        ({"secret_requests": "KEY"}, "secret_requests must be a list of text, not 'KEY'"),
        ({"config_requests": [1]}, r"config_requests must be a list of text, not \[1\]"),
        ({"config_requests": ["{c}"]}, r"config_requests '\{c\}' refers to 'c'"),
        ({"required_permissions": None}, "required_permissions must be a list of text, not None"),
        ({"metadata": "yes"}, "metadata must be True or False, not 'yes'"),
        ({"cache": 1}, "cache must be True or False, not 1"),
        ({"auth_exempt": None}, "auth_exempt must be True or False, not None"),
        ({"separate_approver": 1}, "separate_approver must be True or False, not 1"),
        ({"output_storage": "file"}, "output_storage must be an OutputStorage, not 'file'"),
        ({"requires_approval": 1}, "requires_approval must be True, False or a function, not 1"),
        ({"retries": 3}, "unexpected keyword argument 'retries'"),
    ],
)
def test_wrong_option_of_a_task_is_refused_by_the_decorator(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        task.with_options(**options)(work)


@pytest.mark.parametrize(
    "options",
    [
        {"name": "load_{a}_{b}_{0}_{a.real}_{{}}"},
        {"timeout": timedelta(minutes=1), "retry_delay": timedelta(0)},
        {"fallback": lambda *_: 1, "rollback": lambda a, b=2: 1},
        {"fallback": lambda a: 1},
        {"secret_requests": ("A",), "config_requests": ["c_{a}"]},
    ],
)
def test_valid_options_of_a_task_are_accepted(options: dict[str, Any]) -> None:
    task.with_options(**options)(work)


def test_injected_arguments_are_not_passed_to_a_fallback() -> None:
    def with_secrets(a: int, secrets: dict[str, str]) -> None: ...

    task.with_options(secret_requests=["K"], fallback=lambda a: None)(with_secrets)


def test_timedelta_options_become_seconds() -> None:
    assert task.with_options(timeout=timedelta(minutes=1))(work).options.timeout == 60.0


def test_async_generator_as_a_task_is_refused() -> None:
    async def rows() -> AsyncIterator[int]:
        yield 1

    with pytest.raises(TypeError, match="rows is an async generator"):
        task(rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": 3}, "name must be text"),
        ({"secret_requests": "KEY"}, "secret_requests must be a list of text"),
        ({"required_permissions": "a:b"}, "required_permissions must be a list of text"),
        ({"queue_timeout": 0}, "queue_timeout must be seconds or a timedelta above 0, not 0"),
        ({"queue_timeout": "5"}, "queue_timeout must be seconds or a timedelta above 0, not '5'"),
        ({"priority": 10}, "priority must be a whole number from 0 to 9, not 10"),
        ({"priority": True}, "priority must be a whole number from 0 to 9, not True"),
        ({"tags": ["a"]}, "tags must be a mapping of text to text"),
        ({"tags": {"a": 1}}, "tags must be a mapping of text to text"),
        ({"tags": {"a b": "c"}}, "invalid tag 'a b'"),
        ({"tags": {"a": "b,c"}}, "invalid tag 'a'"),
        ({"tags": {"a": "x" * 129}}, "invalid tag 'a'"),
        ({"tags": {f"k{i}": "" for i in range(17)}}, "tags may have at most 16 entries, not 17"),
        ({"affinity": ["zone"]}, "affinity must be a mapping of text to text"),
        ({"durability": "fast"}, "durability must be one of"),
        ({"schedule": "0 9 * * *"}, r"schedule must be a schedule, such as cron\(...\)"),
        ({"requests": {"cpu": 1}}, "requests must be a ResourceRequest"),
    ],
)
def test_wrong_option_of_a_workflow_is_refused_by_the_decorator(
    options: dict[str, Any], message: str
) -> None:
    async def body(ctx: ExecutionContext[Any]) -> None: ...

    with pytest.raises((TypeError, ValueError), match=message):
        workflow.with_options(**options)(body)


@task
async def step(n: int) -> int:
    return n


async def test_call_that_is_never_awaited_fails_the_workflow_with_its_place() -> None:
    @workflow
    async def forgets(ctx: ExecutionContext[Any]) -> str:
        step(1)  # type: ignore[unused-coroutine]
        await step(2)
        return "done"

    failure = (await run_from(forgets)).events[-1].value
    assert failure["type"] == "UnawaitedCallError"
    assert "step" in failure["message"]
    assert "test_options.py:" in failure["message"]
    assert "await" in failure["message"]


async def test_calls_awaited_through_asyncio_and_parallel_count_as_awaited() -> None:
    import asyncio

    @workflow
    async def awaits(ctx: ExecutionContext[Any]) -> list[int]:
        one = asyncio.create_task(step(1))
        two = asyncio.gather(step(2), step(3))
        return [await one, *await two, *await parallel(step(4), step(5)), *await step.map([6])]

    log = (await run_from(awaits)).events
    assert log[-1].value == [1, 2, 3, 4, 5, 6]
    assert (await run_from(awaits, log[:-1])).events[-1].value == [1, 2, 3, 4, 5, 6]
