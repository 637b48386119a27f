"""Containers of a system: their configuration, and a system where a container engine answers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from windlass.testing._container_specs import FLOWS, PORT, Images, server, stores, worker
from windlass.worker._cli import read_settings
from windlass.worker._cli_options import create_parser

ROOT = Path(__file__).parents[3]
TYPESCRIPT = ROOT / "packages/testcontainers/src/windlass-container.ts"
TOKEN = "t" * 48
IMAGES: dict[str, str] = json.loads(os.environ.get("TEST_WINDLASS_IMAGES", "{}"))
"""Other images than those of the package."""


def obstacle() -> str | None:
    """Returns the reason why no system can be started; None if it can."""
    try:
        import testcontainers.core.container  # noqa: F401
    except ImportError:
        return "testcontainers is not installed"
    docker = shutil.which("docker")
    if docker is None:
        return "there is no docker"
    images = asdict(replace(Images(), **IMAGES)).values()
    found = subprocess.run([docker, "image", "inspect", *images], capture_output=True, check=False)
    return None if found.returncode == 0 else f"no engine answers, or it lacks one of {[*images]}"


def test_settings_of_a_worker_accepted_by_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = worker(Images(), "worker-0", TOKEN)
    settings = read_settings(create_parser().parse_args(["start"]), spec.environment)
    assert settings.server_url == f"http://server:{PORT}"
    assert settings.path == (FLOWS,)


def test_stores_the_server_reaches_them_under_their_names_with_their_password() -> None:
    aliases = {spec.alias for spec in stores(Images(), "secret")}
    urls = [
        value
        for name, value in server(Images(), "secret", TOKEN).environment.items()
        if name.endswith("__URL")
    ]
    assert {re.sub(r".*:secret@(\w+):.*", r"\1", url) for url in urls} == aliases


def test_variables_and_images_those_of_the_package_for_node() -> None:
    """The two packages start the same system."""
    text = TYPESCRIPT.read_text()
    names = set(re.findall(r"^\s+((?:SVC|POSTGRES)_\w+):", text, re.MULTILINE))
    names |= set(re.findall(r"\b(POSTGRES_\w+):", text))
    specs = [*stores(Images(), "p"), server(Images(), "p", "t"), worker(Images(), "w", "t")]
    assert names == {name for spec in specs for name in spec.environment}
    assert {spec.image for spec in specs} == set(
        re.findall(r"^  \w+: '([\w-]+:[\d.]+)',$", text, re.MULTILINE)
    )
    for spec in specs:
        for word in spec.command:
            assert word in ("p", "windlass") or word in text


@pytest.mark.skipif(obstacle() is not None, reason=str(obstacle()))
def test_system_with_a_worker_runs_a_workflow_of_its_folder(tmp_path: Path) -> None:
    from windlass.testing.containers import WindlassContainer

    os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")
    shutil.copy(ROOT / "examples/hello_world.py", tmp_path)
    with WindlassContainer(**IMAGES).with_worker(tmp_path) as windlass:
        assert windlass.client.run("hello_world", "World") == "Hello, World"
