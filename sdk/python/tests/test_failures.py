"""Failures: recorded with their place and cause, and the same exception in every run."""

from __future__ import annotations

import asyncio
import builtins
import dataclasses
import json
import subprocess
import urllib.error
from typing import Any

import pydantic
import pytest

from run_fixture import failure_of, run_from, value
from windlass import ExecutionContext, ExecutionError, task, workflow
from windlass._failures import MAX_TEXT, describe_failure, restore_failure
from windlass._parking import Parking
from windlass.errors import (
    ApprovalRejected,
    NonRetryable,
    RecordedError,
    RequestRefusedError,
    RetryAfter,
)

attempts: list[str] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    attempts.clear()


class OwnError(Exception):
    def __init__(self, code: int, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code


class Unpicklable(Exception):
    def __init__(self, *, code: int) -> None:
        super().__init__(f"code {code}")
        self.code = code


class Amount(pydantic.BaseModel):
    cents: int


class OwnBaseError(BaseException):
    pass


class Slotted(Exception):
    __slots__ = ("place",)

    def __init__(self, place: str) -> None:
        super().__init__("slotted")
        self.place = place


class Unreadable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class Declined(NonRetryable):
    def __init__(self, code: int) -> None:
        super().__init__(f"declined with {code}")
        self.code = code


@dataclasses.dataclass(frozen=True)
class Frozen(Exception):
    code: int


class Computed(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code

    @property
    def message(self) -> str:
        return f"code {self.code}"


class RetryError(Exception):
    """Another class than the SDK's of this name."""


class ConnectionRefusedError(Exception):  # noqa: A001
    """Another class than the built-in of this name."""


@task
async def raises(kind: str) -> None:
    match kind:
        case "own subclass":
            raise Declined(51)
        case "frozen":
            raise Frozen(4)
        case "computed":
            raise Computed(5)
        case "name of the SDK":
            raise RetryError("own")
        case "name in the module":
            raise builtins.ConnectionRefusedError(111, "refused")
        case "own":
            raise OwnError(7, "no")
        case "key":
            raise KeyError("k")
        case "os":
            raise FileNotFoundError(2, "gone", "x.txt")
        case "library":
            raise urllib.error.URLError("refused")
        case "keyword":
            raise Unpicklable(code=3)
        case "value":
            Amount(cents="many")  # type: ignore[arg-type]
        case "group":
            raise ExceptionGroup("two", [OwnError(7, "no"), KeyError("k")])
        case "command":
            raise subprocess.CalledProcessError(3, ["ls", "x"])
        case "slots":
            raise Slotted("here")
        case "missing":
            object().absent  # type: ignore[attr-defined]  # noqa: B018
        case "base":
            raise OwnBaseError("down")
        case "unreadable":
            raise Unreadable
        case "rejected":
            raise ApprovalRejected("pay", "eve", "svc", "too much")
        case "chained":
            try:
                dict[str, int]()["missing"]
            except KeyError as error:
                raise ValueError("chained") from error


@pytest.mark.parametrize(
    ("kind", "caught", "detail"),
    [
        ("own", OwnError, lambda error: error.code),
        ("key", KeyError, lambda error: error.args),
        ("os", OSError, lambda error: error.args),
        ("library", urllib.error.URLError, lambda error: error.reason),
        ("keyword", Unpicklable, lambda error: error.code),
        ("rejected", ApprovalRejected, lambda error: (error.reason, error.approver_subject)),
        ("unreadable", Unreadable, lambda error: error.message),
        ("command", subprocess.CalledProcessError, lambda error: (error.cmd, error.returncode)),
        ("slots", Slotted, lambda error: error.place),
        ("missing", AttributeError, lambda error: error.name),
        ("os", OSError, lambda error: (error.errno, error.strerror, error.filename)),
        ("chained", ValueError, lambda error: repr(error.__cause__)),
        ("group", ExceptionGroup, lambda error: repr(error.exceptions)),
        ("own subclass", Declined, lambda error: (error.code, error.message)),
        ("frozen", Frozen, lambda error: error.code),
        ("computed", Computed, lambda error: (error.code, error.message)),
        ("name of the SDK", RetryError, lambda error: error.args),
        ("name in the module", OSError, lambda error: error.errno),
    ],
)
async def test_handler_catches_the_same_class_in_every_run(
    kind: str, caught: type[Exception], detail: Any
) -> None:
    seen: list[Any] = []

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        try:
            await raises(kind)
        except caught as error:
            inner = getattr(error, "inner_exception", None)
            kinds = isinstance(error, ExecutionError), isinstance(inner or error, caught)
            seen.append((str(error), detail(error), kinds))

    log = (await run_from(body)).events
    assert log[-1].type == "WORKFLOW_COMPLETED", log[-1].value
    await run_from(body, log[:-1])
    assert len(seen) == 2
    assert seen[0] == seen[1]
    assert seen[0][2] == (True, True)


@pytest.mark.parametrize(
    ("kind", "name"),
    # A class that can neither be extended nor created, and one that is no Exception.
    [("value", "ValidationError"), ("base", "OwnBaseError")],
)
async def test_failure_of_a_class_that_cannot_be_caught_by_name_is_the_same_in_every_run(
    kind: str, name: str
) -> None:
    seen: list[str] = []

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        try:
            await raises(kind)
        except ExecutionError as error:
            seen.append(f"{error!r} {error.inner_exception!r}")

    log = (await run_from(body)).events
    await run_from(body, log[:-1])
    assert seen[0] == seen[1]
    assert failure_of(value(log[-2]))["type"] == name


async def test_members_of_a_group_are_restored_with_their_classes() -> None:
    @workflow
    async def body(ctx: ExecutionContext[Any]) -> Any:
        try:
            await raises("group")
        except* OwnError as caught:
            codes = [getattr(error, "code", None) for error in caught.exceptions]
        except* KeyError:
            pass
        return codes

    assert body.run().output == [7]


async def test_error_of_a_model_keeps_its_message() -> None:
    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        await raises("value")

    failure = (await run_from(body)).events[-1].value
    assert failure["type"] == "ValidationError"
    assert "cents" in failure["message"]


async def test_cause_of_a_failure_is_restored_with_its_class() -> None:
    error = restore_failure(describe_failure(_chained()), {})
    assert isinstance(error.__cause__, KeyError)
    assert error.__cause__.args == ("missing",)


def _chained() -> Exception:
    try:
        try:
            raise KeyError("missing")
        except KeyError as missing:
            raise ValueError("chained") from missing
    except ValueError as error:
        return error


async def test_stop_iteration_of_a_function_in_a_thread_fails_its_task() -> None:
    @task
    def stops() -> int:
        return next(iter([]))

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> int:
        return await stops()

    event = (await asyncio.wait_for(run_from(body), 60)).events[-1]
    assert event.value["message"] == "the function raised StopIteration"


async def test_unknown_class_is_a_recorded_error() -> None:
    error = restore_failure({"type": "GoneError", "message": "m", "module": "gone"}, {})
    assert isinstance(error.inner_exception, RecordedError)
    assert (error.inner_exception.type_name, str(error)) == ("GoneError", "m")


async def test_failure_carries_module_args_traceback_and_cause() -> None:
    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        await raises("chained")

    log = (await run_from(body)).events
    failure = log[-1].value
    assert failure == value(log[-2])
    assert failure_of(failure) == {"type": "ValueError", "message": "chained"}
    assert (failure["module"], failure["args"]) == ("builtins", ["chained"])
    assert "test_failures.py" in failure["traceback"]
    assert "in raises" in failure["traceback"]
    assert "_task_execution.py" not in failure["traceback"]
    assert failure_of(failure["cause"]) == {"type": "KeyError", "message": "'missing'"}


async def test_failure_of_a_replayed_task_keeps_its_traceback() -> None:
    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        await raises("key")

    log = (await run_from(body)).events
    assert (await run_from(body, log[:-1])).events[-1].value == log[-1].value


def test_long_messages_and_tracebacks_are_cut() -> None:
    def recurse(n: int) -> None:
        if n == 0:
            raise ValueError("x" * 10**6)
        exec(f"f(n - 1)  # {n}", {"f": recurse, "n": n})

    try:
        recurse(300)
    except ValueError as error:
        failure = describe_failure(error)
    assert len(failure["message"]) == MAX_TEXT
    assert len(failure["traceback"]) <= MAX_TEXT
    assert failure["args"] is None


def test_group_of_many_groups_is_cut() -> None:
    def nest(levels: int) -> Exception:
        if not levels:
            return ValueError("x" * MAX_TEXT)
        return ExceptionGroup("several", [nest(levels - 1)] * 10)

    failure = describe_failure(nest(4))
    assert len(json.dumps(failure)) < 1024**2
    restored = restore_failure(failure, {})
    assert isinstance(restored, ExceptionGroup)
    assert isinstance(restored.exceptions[0], ExceptionGroup)


@pytest.mark.parametrize("module", [None, "gone", "windlass_source_1_1"])
def test_class_that_has_moved_is_found_in_the_module_of_the_task(module: str | None) -> None:
    moved = type("Moved", (Exception,), {"__module__": "windlass_source_1_2"})
    failure = {"type": "Moved", "message": "m", "module": module}
    assert isinstance(restore_failure(failure, {"Moved": moved}), moved)


async def test_each_failed_attempt_carries_its_failure() -> None:
    @task.with_options(retry_max_attempts=1, retry_delay=0, fallback=lambda: "fallback")
    async def flaky() -> str:
        attempts.append("")
        raise OwnError(len(attempts), "no")

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> str:
        return await flaky()

    log = (await run_from(body)).events
    failures = [event.value["failure"] for event in log if "failure" in (event.value or ())]
    assert [failure["args"] for failure in failures] == [[1, "no"], [2, "no"], [2, "no"]]
    assert log[-1].value == "fallback"


async def test_non_retryable_ends_the_attempts() -> None:
    @task.with_options(retry_max_attempts=3, retry_delay=0)
    async def declined() -> None:
        attempts.append("")
        raise NonRetryable("declined")

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        await declined()

    assert failure_of((await run_from(body)).events[-1].value)["message"] == "declined"
    assert len(attempts) == 1


async def test_refused_secret_is_neither_retried_nor_handed_to_a_fallback() -> None:
    @task.with_options(retry_max_attempts=3, retry_delay=0, fallback=lambda: "fallback")
    async def refused() -> str:
        attempts.append("")
        raise RequestRefusedError(message="the secret KEY does not exist; create it")

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> str:
        return await refused()

    failure = (await run_from(body)).events[-1].value
    assert failure_of(failure)["type"] == "RequestRefusedError"
    assert len(attempts) == 1


async def test_retry_after_delays_the_next_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    delays: list[float] = []

    async def sleep(_: Parking, seconds: float) -> None:
        delays.append(seconds)

    monkeypatch.setattr(Parking, "sleep", sleep)

    @task.with_options(retry_max_attempts=1, retry_delay=1)
    async def limited() -> str:
        attempts.append("")
        if len(attempts) == 1:
            raise RetryAfter(30)
        return "done"

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> str:
        return await limited()

    assert (await run_from(body)).events[-1].value == "done"
    assert delays == [30]
