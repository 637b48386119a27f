"""Settings from the command line and the environment."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from windlass.worker._bootstrap import UsageError, read_token
from windlass.worker._cli import main, read_settings
from windlass.worker._cli_options import create_parser
from windlass.worker._settings import Settings

TOKEN = {"SVC_WORKERS__BOOTSTRAP_TOKEN": " from-environment\n"}


def settings(*arguments: str, **environment: str) -> Settings:
    return read_settings(
        create_parser().parse_args(["start", *arguments]), {**TOKEN, **environment}
    )


def token(*arguments: str, **environment: str) -> str:
    return read_token(create_parser().parse_args(["start", *arguments]), {**TOKEN, **environment})


def test_defaults() -> None:
    result = settings()
    assert re.fullmatch("worker-[0-9a-f]{6}", result.name)
    assert settings().name != result.name
    assert result.server_url == "http://localhost:8000"
    assert result.bootstrap_token == ""
    assert token() == "from-environment"
    assert (result.labels, result.max_concurrent_executions) == ({}, 100)
    assert (result.drain_timeout_s, result.stream_idle_s) == (25, 60)


def test_all_options_are_read(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-file\n")
    result = settings(
        *["--name", "w", "--server-url", "https://here:1/", "--max-concurrent", "3"],
        *["--ca-file", "/ca", "--client-cert", "/cert", "--client-key", "/key"],
        *["--label", "zone=a", "--label", "expression=a=b", "--drain-timeout", "1.5"],
        *["--task-processes", "1", "--interceptor", "a:one", "--interceptor", "b:two"],
        *[
            "--stream-idle-timeout",
            "9",
            "--children",
            "2",
            "--bootstrap-token-file",
            str(tmp_path / "token"),
        ],
        SVC_WORKERS__SERVER_URL="http://there:2",
    )
    assert result == Settings(
        name="w",
        server_url="https://here:1",
        bootstrap_token_file=str(tmp_path / "token"),
        labels={"zone": "a", "expression": "a=b"},
        max_concurrent_executions=3,
        drain_timeout_s=1.5,
        stream_idle_s=9,
        ca_file="/ca",
        client_cert="/cert",
        client_key="/key",
        children=2,
        interceptors=("a:one", "b:two"),
    )
    assert token("--bootstrap-token-file", str(tmp_path / "token")) == "from-file"
    assert token("--bootstrap-token", "said") == "said"
    assert settings(SVC_WORKERS__SERVER_URL="https://there:2").server_url == "https://there:2"


@pytest.mark.parametrize("url", ["http://localhost:1", "http://127.0.0.9:1", "http://[::1]:1"])
def test_plain_http_to_loopback_is_accepted(url: str) -> None:
    assert settings("--server-url", url).server_url == url


@pytest.mark.parametrize("url", ["http://10.0.0.1:1", "http://gateway", "HTTP://0.0.0.0:1"])
def test_plain_http_to_another_host_needs_insecure(url: str) -> None:
    with pytest.raises(UsageError, match="--insecure"):
        settings("--server-url", url)
    with pytest.raises(UsageError, match="--insecure"):
        settings(SVC_WORKERS__SERVER_URL=url)
    assert settings("--server-url", url, "--insecure").server_url == url


def test_bootstrap_token_is_read_once_from_a_descriptor() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"from-descriptor\n")
    os.close(writing)
    assert token("--bootstrap-token-fd", str(reading)) == "from-descriptor"
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(reading)
    with pytest.raises(UsageError, match="failed to read the bootstrap token"):
        token("--bootstrap-token-fd", str(reading))


def test_empty_descriptor_is_rejected() -> None:
    reading, writing = os.pipe()
    os.close(writing)
    with pytest.raises(UsageError, match="contains no bootstrap token"):
        token("--bootstrap-token-fd", str(reading))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--server-url", "here:1"], "must begin with http:// or https://"),
        (["--client-cert", "/cert"], "must be given together"),
    ],
)
def test_invalid_arguments_are_rejected(arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        settings(*arguments)


def test_missing_token_file_is_rejected() -> None:
    with pytest.raises(UsageError, match="failed to read the bootstrap token"):
        token("--bootstrap-token-file", "/none")


def test_missing_bootstrap_token_is_rejected() -> None:
    with pytest.raises(UsageError, match="SVC_WORKERS__BOOTSTRAP_TOKEN"):
        settings(SVC_WORKERS__BOOTSTRAP_TOKEN="")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--max-concurrent", "-1"],
        ["--max-concurrent", "2.5"],
        ["--max-concurrent", "many"],
        ["--max-concurrent", "\u0664"],
        ["--drain-timeout", "-1"],
        ["--drain-timeout", "nan"],
        ["--drain-timeout", "inf"],
        ["--stream-idle-timeout", "0"],
        ["--stream-idle-timeout", "soon"],
        ["--bootstrap-token-fd", "-3"],
        ["--label", "zone"],
        ["--label", "=a"],
        ["--children", "two"],
        ["--max-child-memory", "1G"],
        ["--log-level", "loud"],
    ],
)
def test_wrong_value_ends_with_code_2_and_one_line_that_names_the_option(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exited:
        settings(*arguments)
    assert exited.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("windlass worker: ")
    assert arguments[0] in line


OTHERS = """
[svc.worker]
children = 3
insecure = true
pass_env = ["A", "B"]
label = ["zone=a"]
drain_timeout = 1.5
"""


def test_environment_wins_over_the_file_and_the_command_line_over_both(tmp_path: Path) -> None:
    file = tmp_path / "svc.toml"
    file.write_text(OTHERS)
    read = settings(SVC_CONFIG=str(file))
    assert (read.children, read.drain_timeout_s) == (3, 1.5)
    assert (read.pass_env, read.labels) == (("A", "B"), {"zone": "a"})
    variables = {"SVC_WORKER__CHILDREN": "1", "SVC_WORKER__PASS_ENV": "C, D"}
    read = settings(SVC_CONFIG=str(file), **variables)
    assert (read.children, read.pass_env) == (1, ("C", "D"))
    assert settings("--children", "0", SVC_CONFIG=str(file), **variables).children == 0


def test_children_without_the_option_are_at_most_four() -> None:
    assert 1 <= settings().children <= 4


@pytest.mark.parametrize(
    ("text", "variables", "place"),
    [
        ("[svc.worker]\nchilds = 1", {}, r"\[svc.worker\].childs is not"),
        ("[svc.worker]\nchildren = -1", {}, r"\[svc.worker\].children: '-1' is not"),
        ("[svc.worker]\nchildren = [1, 2]", {}, r"\[svc.worker\].children must be one"),
        ("[svc]\nworker = 3", {}, r"\[svc.worker\] must be a table"),
        ("[svc", {}, "cannot read"),
        ("", {"SVC_WORKER__CHILDS": "1"}, "SVC_WORKER__CHILDS is not"),
        ("", {"SVC_WORKER__CHILDREN": "two"}, "SVC_WORKER__CHILDREN: 'two' is not"),
        ("", {"SVC_WORKER__INSECURE": "yes"}, "SVC_WORKER__INSECURE: 'yes' is neither"),
    ],
)
def test_wrong_setting_in_file_or_environment_is_named(
    tmp_path: Path, text: str, variables: dict[str, str], place: str
) -> None:
    file = tmp_path / "svc.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=place):
        settings(SVC_CONFIG=str(file), **variables)


def checked(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str = "", **variables: str) -> int:
    """Runs `check` with this file and these variables alone."""
    for name in list(os.environ):
        if name.startswith("SVC_"):
            monkeypatch.delenv(name)
    (folder / "svc.toml").write_text(text)
    for name, value in {"SVC_CONFIG": str(folder / "svc.toml"), **variables}.items():
        monkeypatch.setenv(name, value)
    return main(["check"])


def test_check_accepts_settings_without_a_token_and_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checked(monkeypatch, tmp_path, OTHERS, SVC_WORKER__MAX_CONCURRENT="3") == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("text", "variables", "message"),
    [
        ("[svc.worker]\nchilds = 1", {}, "[svc.worker].childs is not an option of the worker"),
        ("", {"SVC_WORKER__CHILDREN": "two"}, "SVC_WORKER__CHILDREN: 'two' is not an integer"),
        ("", {"SVC_WORKER__SERVER_URL": "http://gateway:8000"}, "--insecure"),
        ("", {"SVC_WORKER__CA_FILE": "/none"}, "[svc.worker].ca_file: cannot read /none: No such"),
        ("[svc.worker]\nbootstrap_token_file = '/none'", {}, "bootstrap_token_file: cannot read"),
    ],
)
def test_check_names_the_wrong_setting_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    variables: dict[str, str],
    message: str,
) -> None:
    assert checked(monkeypatch, tmp_path, text, **variables) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("windlass worker: ")
    assert message in line
