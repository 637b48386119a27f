"""Values of secrets do not appear in failures: neither in the log nor in what workflows catch."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from conftest import Workers, until
from every_run import form_of
from run_fixture import FakeServices, run_from
from server_fake import TERMINAL, FakeServer
from windlass import ExecutionContext, parallel, saga, task, workflow
from windlass._failures import MAX_TEXT
from windlass.errors import CompensationError, ExecutionError
from windlass.secrets import previous_secret

PASSWORD = 'p@ss "wörd"/7'
KEY = "first line\nsecond line"
PIN = 47112


class LoginFailed(Exception):
    def __init__(self, url: str, pin: int, **details: Any) -> None:
        super().__init__(url, pin)
        self.url = url
        self.pin = pin
        self.details = details
        self.status = 503


def services() -> FakeServices:
    found = FakeServices()
    found.stored_values = {"DB": {"password": PASSWORD, "pin": PIN, "port": 53}, "KEY": KEY}
    return found


def hidden_texts() -> list[str]:
    return [PASSWORD, "wörd", quote(PASSWORD), quote(PASSWORD, safe=""), str(PIN), "second line"]


def assert_masked(text: str) -> None:
    for decoded in (text, text.encode().decode("unicode_escape")):
        for hidden in hidden_texts():
            assert hidden not in decoded, hidden


def _caused() -> Exception:
    inner = ValueError(f"inner {PASSWORD}")
    inner.__cause__ = KeyError(KEY)
    error = RuntimeError("outer")
    error.__cause__ = inner
    return error


def _noted() -> Exception:
    error = ValueError("v")
    error.add_note(f"the key was {KEY}")
    return error


FAILURES: list[Callable[[], BaseException]] = [
    lambda: ValueError(f"cannot log in with {PASSWORD}"),
    lambda: ValueError(f"postgres://u:{quote(PASSWORD, safe='')}@db and {quote(PASSWORD)}"),
    lambda: ValueError(repr({"password": PASSWORD}), json.dumps([PASSWORD, KEY])),
    lambda: ValueError(b64encode(PASSWORD.encode()).decode(), repr(PASSWORD.encode())),
    lambda: ValueError("the second line is wrong"),
    lambda: LoginFailed(f"db/{PASSWORD}", PIN, body={"pin": PIN, PASSWORD: [KEY]}),
    _caused,
    _noted,
    lambda: ExceptionGroup(f"of {PASSWORD}", [ValueError(KEY), _caused()]),
    lambda: ValueError("x" * (MAX_TEXT - 5) + PASSWORD),
    lambda: SystemExit(PASSWORD),
    lambda: ExecutionError(ValueError(PASSWORD)),
]


@pytest.mark.parametrize("create", FAILURES)
async def test_a_failure_with_a_secret_it_is_masked_in_the_log_and_equal_in_every_run(
    create: Callable[[], BaseException],
) -> None:
    seen: list[Any] = []

    async def connect(db: Any = None, secrets: Any = None) -> None:
        raise create()

    plain = task.with_options(secret_requests=["DB", "KEY"])(connect)
    tasks = [
        plain,
        plain.with_options(retry_max_attempts=1, retry_delay=0),
        plain.with_options(fallback=connect),
        plain.with_options(rollback=connect),
    ]

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        for one in tasks:
            try:
                await one()
            except Exception as error:
                seen.append(error)
        seen.extend(await parallel(plain(1), return_exceptions=True))
        await plain(2)

    log = (await run_from(body, services=services())).events
    assert log[-1].type == "WORKFLOW_FAILED"
    assert_masked(json.dumps([event.value for event in log], ensure_ascii=False))
    first_run = [form_of(error) for error in seen]
    assert_masked(repr(first_run))
    for cut in range(1, len(log)):
        seen.clear()
        again = (await run_from(body, log[:cut], services=services())).events
        assert [form_of(error) for error in seen] == first_run, cut
        assert again[-1].value == log[-1].value


async def test_a_masked_failure_what_is_no_secret_stays() -> None:
    @task.with_options(secret_requests=["DB"])
    async def connect(secrets: Any = None) -> None:
        raise LoginFailed("db", 53, user="ada", number=PIN, text="53 rows")

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> Any:
        try:
            await connect()
        except LoginFailed as error:
            return [error.status, error.pin, error.details]

    found = (await run_from(body, services=services())).events[-1].value
    assert found == [503, 53, {"user": "ada", "number": "***", "text": "*** rows"}]


async def test_a_failed_compensation_with_a_secret_the_summary_is_masked(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @task.with_options(secret_requests=["DB"])
    async def undo_login(secrets: Any = None) -> None:
        raise ValueError(f"cannot log out with {secrets['DB']['password']}")

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        async with saga() as undo:
            undo.add(undo_login.with_options(retry_max_attempts=1, retry_delay=0))
            raise LookupError

    log = (await run_from(body, services=services())).events
    assert log[-1].value["type"] == CompensationError.__name__
    assert "cannot log out with ***" in log[-1].value["message"]
    assert_masked(json.dumps(log[-1].value, ensure_ascii=False) + caplog.text)


async def test_a_secret_of_an_earlier_version_is_masked() -> None:
    @task.with_options(secret_requests=["DB"])
    async def connect(secrets: Any = None) -> None:
        older = await previous_secret("KEY")
        raise ValueError(f"refused: {older}")

    @workflow
    async def body(ctx: ExecutionContext[Any]) -> None:
        await connect()

    log = (await run_from(body, services=services())).events
    assert log[-1].value["message"] == "refused: ***"


SOURCE = """
from windlass import ExecutionContext, task, workflow

@task.with_options(secret_requests=["KEY"])
async def in_process(secrets: dict) -> None:
    raise ValueError("refused: " + secrets["KEY"])

@task.with_options(secret_requests=["KEY"], process=True)
def elsewhere(secrets: dict) -> None:
    raise ValueError("refused: " + secrets["KEY"]) from KeyError(secrets["KEY"])

@workflow
async def leaks(ctx: ExecutionContext[bool]):
    if ctx.input:
        await elsewhere()
    await in_process()
"""


@pytest.mark.parametrize("is_elsewhere", [False, True])
@pytest.mark.parametrize("captures", [False, True])
async def test_a_worker_the_failure_of_an_execution_is_masked(
    server: FakeServer, workers: Workers, is_elsewhere: bool, captures: bool
) -> None:
    server.features = ["captured_lines", "lines_in_checkpoints"] if captures else []
    server.secrets = {"KEY": "sk_live_0815"}
    await workers.start()
    stored = server.start(SOURCE, "leaks", is_elsewhere)
    await until(lambda: stored.state in TERMINAL)
    assert stored.events[-1]["value"]["message"] == "refused: ***"
    assert "sk_live" not in json.dumps(stored.events)
