"""Codecs of payloads: what leaves the process, and what the server sees of it."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from conftest import HANG_S, Workers, until
from run_fixture import run_from
from server_fake import TERMINAL, FakeServer
from windlass import ExecutionContext, pause, task, workflow
from windlass._failures import ENCODED_FAILURE, restore_failure
from windlass._json import encode, loads
from windlass._payloads import Payloads
from windlass.codec import AesGcmCodec, PayloadCodec, ZlibCodec
from windlass.errors import PayloadCodecError
from windlass.worker._cli import main

OLD, NEW = b"o" * 32, b"n" * 32
SECRET = "s3cret-word"


def create_codec() -> PayloadCodec:
    """The codec of the workers of these tests: `--codec test_payloads:create_codec`."""
    return AesGcmCodec({"old": OLD, "new": NEW}, current="new", compress=True)


def create_other_codec() -> PayloadCodec:
    return AesGcmCodec({"other": b"x" * 16}, current="other")


class SelectiveCodec(AesGcmCodec):
    """Fails for what a workflow prints or reports."""

    def encode(self, data: bytes) -> tuple[str, bytes]:
        if b"unencodable" in data:
            raise ConnectionError("the key service does not answer")
        return super().encode(data)


def create_selective_codec() -> PayloadCodec:
    return SelectiveCodec({"old": OLD, "new": NEW}, current="new", compress=True)


PAYLOADS = Payloads(create_codec())

VALUES = ["null", "1e400", "-0.0", '"\\ud800"', '{"a": [1, {"b": 2}]}', '"' + "x" * 100_000 + '"']


@pytest.mark.parametrize("codec", [create_codec(), create_other_codec(), ZlibCodec()])
@pytest.mark.parametrize("text", VALUES)
def test_wrapped_value_is_the_same_text_again(codec: PayloadCodec, text: str) -> None:
    payloads = Payloads(codec)
    wrapped = payloads.wrap(text)
    assert payloads.unwrap(f'{{"a":[{wrapped}]}}') == f'{{"a":[{text}]}}'
    assert (wrapped == text) == (text == "null")


def test_envelope_names_codec_and_key_and_differs_each_time() -> None:
    wrapped = PAYLOADS.wrap('"a"')
    assert loads(wrapped).keys() == {"$codec", "key", "data"}
    assert (loads(wrapped)["$codec"], loads(wrapped)["key"]) == ("aes-gcm", "new")
    assert wrapped != PAYLOADS.wrap('"a"')


def test_value_in_the_form_of_an_envelope_stays_as_it_is() -> None:
    forged = '{"$codec":"aes-gcm","key":"new","data":"AAAA"}'
    assert PAYLOADS.unwrap(PAYLOADS.wrap(forged)) == forged
    inside_text = json.dumps(forged)
    assert PAYLOADS.unwrap(inside_text) == inside_text


def test_members_of_an_envelope_in_another_order_are_decoded() -> None:
    members = loads(PAYLOADS.wrap("[1]"))
    text = json.dumps({name: members[name] for name in sorted(members, reverse=True)}, indent=1)
    assert PAYLOADS.unwrap(text) == "[1]"
    assert PAYLOADS.unwrap_value({"a": [members]}) == {"a": [[1]]}


def test_key_that_is_no_longer_current_still_decodes() -> None:
    before = Payloads(AesGcmCodec({"old": OLD}, current="old"))
    assert PAYLOADS.unwrap(before.wrap('"a"')) == '"a"'


def changed(text: str) -> str:
    members = loads(text)
    data = bytearray(base64.b64decode(members["data"]))
    data[-1] ^= 1
    return encode({**members, "data": base64.b64encode(data).decode()})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (changed(PAYLOADS.wrap("1")), "was changed"),
        (PAYLOADS.wrap("1").replace('"new"', '"old"'), "was changed"),
        (PAYLOADS.wrap("1").replace('"new"', '"gone"'), "key 'gone'; the keys here are old, new"),
        (PAYLOADS.wrap("1").replace("aes-gcm", "mine"), "codec 'mine', but this process has"),
        ('{"$codec":"aes-gcm","key":"new","data":"%"}', "failed to decode"),
    ],
)
def test_value_that_cannot_be_decoded_says_why(text: str, reason: str) -> None:
    with pytest.raises(PayloadCodecError, match=reason):
        PAYLOADS.unwrap(f"[{text}]")
    with pytest.raises(PayloadCodecError, match=reason):
        PAYLOADS.unwrap_value([loads(text)])


def test_envelope_without_a_codec_is_an_error_and_a_plain_value_is_not() -> None:
    with pytest.raises(PayloadCodecError, match="this process has none"):
        Payloads(None).unwrap(PAYLOADS.wrap("1"))
    assert Payloads(None).unwrap('{"$codec":1}') == '{"$codec":1}'
    assert Payloads(None).wrap("1") == "1"


def test_compressed_value_above_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = Payloads(ZlibCodec()).wrap('"' + "x" * 10_000 + '"')
    monkeypatch.setattr("windlass.codec.MAX_BYTES", 1000)
    with pytest.raises(PayloadCodecError, match="larger than"):
        Payloads(ZlibCodec()).unwrap(bomb)


@pytest.mark.parametrize(
    ("keys", "current", "reason"),
    [
        ({"a": b"short"}, "a", "has 5 bytes"),
        ({"a": OLD}, "b", "no key 'b'"),
        ({'"': OLD}, '"', "must have printable characters"),
    ],
)
def test_wrong_keys_are_refused(keys: dict[str, bytes], current: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        AesGcmCodec(keys, current)


@task.with_options(retry_max_attempts=1, retry_delay=0)
async def refuses(word: str) -> None:
    raise ValueError(word)


async def instead(word: str, failure: dict[str, str]) -> dict[str, str]:
    return {"instead": word}


@task.with_options(fallback=instead)
async def falls_back(word: str, failure: dict[str, str]) -> dict[str, str]:
    raise KeyError(word)


@task
async def returns(word: str) -> list[str]:
    return [word]


@workflow
async def uses_everything(ctx: ExecutionContext[str]) -> list[Any]:
    words: list[Any] = [await returns(ctx.input), await falls_back(ctx.input, {"type": SECRET})]
    try:
        await refuses(ctx.input)
    except ValueError as error:
        words.append(str(error))
    words.append(await pause("review", output={"word": ctx.input}))
    raise LookupError(str(words))


async def test_log_keeps_its_structure_and_shows_no_value() -> None:
    first = await run_from(uses_everything, input=SECRET)
    texts = [PAYLOADS.wrap_event(entry.text) for entry in first.entries]
    assert SECRET in "".join(entry.text for entry in first.entries)
    assert SECRET not in "".join(texts)
    events = [loads(text) for text in texts]
    for entry, event in zip(first.entries, events, strict=True):
        plain = loads(entry.text)
        for name in ("type", "source_id", "name", "time"):
            assert plain[name] == event[name]
    by_type = {event["type"]: event["value"] for event in events}
    assert by_type["TASK_STARTED"]["output"].keys() == {"$codec", "key", "data"}
    assert by_type["TASK_COMPLETED"]["storage_type"] == "inline"
    assert by_type["WORKFLOW_PAUSED"]["name"] == "review"
    assert by_type["TASK_RETRY_FAILED"]["failure"]["type"] == "ValueError"
    assert "test_payloads.py" in by_type["TASK_RETRY_FAILED"]["failure"]["traceback"]
    failed = by_type["TASK_FAILED"]["metadata"]["value"]
    assert failed["message"] == "the message is encoded"
    assert failed[ENCODED_FAILURE].keys() == {"$codec", "key", "data"}


async def test_mark_of_a_cached_result_stays_readable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @task.with_options(cache=True)
    async def costly(word: str) -> str:
        return word

    @workflow
    async def runs(ctx: ExecutionContext[str]) -> str:
        return await costly(ctx.input)

    monkeypatch.chdir(tmp_path)
    await run_from(runs, input=SECRET)
    entry = (await run_from(runs, input=SECRET)).entries[2]
    wrapped = PAYLOADS.wrap_event(entry.text)
    assert SECRET not in wrapped
    assert loads(wrapped)["value"]["metadata"]["~cached"] is True
    assert loads(PAYLOADS.unwrap(wrapped))["value"] == loads(entry.text)["value"]


async def test_run_that_continues_from_decoded_events_sees_the_same_values() -> None:
    first = await run_from(uses_everything, input=SECRET)
    decoded = [loads(PAYLOADS.unwrap(PAYLOADS.wrap_event(entry.text))) for entry in first.entries]
    for entry, event in zip(first.entries, decoded, strict=True):
        plain = loads(entry.text)["value"]
        if ENCODED_FAILURE not in json.dumps(event):
            assert event["value"] == plain
    failed = next(event for event in decoded if event["type"] == "TASK_FAILED")
    restored = restore_failure(failed["value"]["metadata"]["value"], globals())
    assert isinstance(restored, ValueError)
    assert str(restored) == SECRET


SOURCE = """
import os
from windlass import ExecutionContext, call, pause, progress, task, workflow

@task
async def shout(word: str) -> str:
    print("printed", word)
    await progress({"word": word})
    return word.upper()

@workflow
async def shouts(ctx: ExecutionContext[str]) -> dict[str, str]:
    said = await shout(ctx.input)
    reviewed = await pause("review", output=said)
    return {"said": said, "reviewed": reviewed, "keys": str([n for n in os.environ if "KEY" in n])}

@task
async def fails(word: str) -> None:
    raise ValueError(word)

@workflow
async def reports(ctx: ExecutionContext[str]) -> str:
    word = "un" + "encodable"
    print(word)
    await progress(word)
    print("printed")
    return "done"

@workflow
async def raises(ctx: ExecutionContext[str]) -> None:
    await fails(ctx.input)

@workflow
async def calls(ctx: ExecutionContext[str]) -> str:
    return await call("other", ctx.input)
"""

CODEC = "test_payloads:create_codec"


async def test_worker_encodes_what_the_server_gets_and_decodes_what_it_sends(
    server: FakeServer, workers: Workers
) -> None:
    server.features = ["captured_lines"]
    await workers.start(codec=CODEC)
    stored = server.start(SOURCE, "shouts", loads(PAYLOADS.wrap(encode(SECRET))))
    await until(lambda: stored.state == "PAUSED", 2 * HANG_S)
    server.resume(stored, loads(PAYLOADS.wrap('"fine"')))
    await until(lambda: stored.state in TERMINAL)
    assert PAYLOADS.unwrap_value(stored.output)["said"] == SECRET.upper()
    assert PAYLOADS.unwrap_value(stored.output)["reviewed"] == "fine"
    await until(lambda: stored.progress and stored.lines)
    [line] = stored.lines.values()
    assert PAYLOADS.unwrap_message(line["message"]) == f"printed {SECRET}"
    assert PAYLOADS.unwrap_value(stored.progress[0])["value"] == {"word": SECRET}
    seen = json.dumps([stored.events, stored.progress, list(stored.lines.values())])
    assert SECRET not in seen
    assert SECRET.upper() not in seen


async def test_lines_and_progress_that_cannot_be_encoded_are_lost_and_nothing_else(
    server: FakeServer, workers: Workers
) -> None:
    server.features = ["captured_lines"]
    await workers.start(codec="test_payloads:create_selective_codec")
    stored = server.start(SOURCE, "reports", None)
    await until(lambda: stored.state in TERMINAL)
    assert PAYLOADS.unwrap_value(stored.output) == "done"
    assert stored.releases == []
    messages = [line["message"] for _, line in sorted(stored.lines.items())]
    assert [PAYLOADS.unwrap_message(message) for message in messages] == [
        "printed",
        "1 lines are missing: they could not be encoded or sent in time",
    ]


async def test_plain_input_of_an_old_client_still_runs(
    server: FakeServer, workers: Workers
) -> None:
    await workers.start(codec=CODEC)
    stored = server.start(SOURCE, "raises", SECRET)
    await until(lambda: stored.state in TERMINAL)
    assert stored.output["type"] == "ValueError"
    assert PAYLOADS.unwrap_value(stored.output)[ENCODED_FAILURE]["message"] == SECRET


async def test_nested_run_gets_an_encoded_input_and_returns_a_decoded_output(
    server: FakeServer, workers: Workers
) -> None:
    output = loads(PAYLOADS.wrap('"from the child"'))
    server.run_answers = [{"execution_id": "c", "state": "COMPLETED", "output": output}]
    await workers.start(codec=CODEC)
    stored = server.start(SOURCE, "calls", SECRET)
    await until(lambda: stored.state in TERMINAL)
    assert PAYLOADS.unwrap_value(stored.output) == "from the child"
    [(_, _, sent)] = server.runs
    assert PAYLOADS.unwrap_value(sent) == SECRET


@pytest.mark.parametrize("codec", [None, "test_payloads:create_other_codec"])
async def test_execution_that_the_worker_cannot_decode_is_paused_and_continues_elsewhere(
    server: FakeServer, workers: Workers, codec: str | None
) -> None:
    await workers.start(codec=codec)
    stored = server.start(SOURCE, "raises", loads(PAYLOADS.wrap(encode(SECRET))))
    await until(lambda: stored.state == "PAUSED")
    paused = stored.events[-1]["value"]
    assert paused["name"] == "codec"
    assert "a value is encoded" in paused["output"]["message"] or "key" in str(paused["output"])
    await workers.stop("w1")
    await workers.start("w2", codec=CODEC)
    server.resume(stored, None, "w2")
    await until(lambda: stored.state in TERMINAL)
    assert stored.output["type"] == "ValueError"


async def test_line_whose_envelope_would_be_too_long_is_cut() -> None:
    line = encode({"message": "ä" * 16_000, "level": 20})
    wrapped = loads(PAYLOADS.wrap_line(line))
    assert len(wrapped["message"]) <= 16_384
    assert PAYLOADS.unwrap_message(wrapped["message"]).startswith("ää")


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("absent_module:create", "ModuleNotFoundError"),
        ("test_payloads:absent", "AttributeError"),
        ("json:JSONDecoder", "name"),
    ],
)
def test_wrong_codec_ends_the_worker_with_one_line(
    reference: str, reason: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("t")
    options = ["--bootstrap-token-file", str(tmp_path / "token"), "--codec", reference]
    assert main(["start", *options]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert f"--codec {reference}" in line
    assert reason in line
