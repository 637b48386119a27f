"""Wheel and source distribution: contents, metadata and what an installed wheel can do."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from hatchling.build import build_sdist, build_wheel

import windlass

PROJECT = Path(__file__).parents[1]
EXAMPLES = PROJECT.parents[1] / "examples"
TREE = {path.relative_to(PROJECT / "src").as_posix() for path in PROJECT.glob("src/**/*.py")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(PROJECT)
        return folder / build_wheel(str(folder))


def test_wheel_holds_every_module_the_type_marker_and_the_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert names >= TREE | {"windlass/py.typed"}
    assert [name for name in names if name.endswith("licenses/LICENSE")]
    assert not [name for name in names if name.startswith(("tests", "bench"))]


def test_metadata_names_licence_extras_and_commands(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        info = next(name for name in archive.namelist() if name.endswith("METADATA"))
        commands = archive.read(info.replace("METADATA", "entry_points.txt")).decode()
        metadata = Parser().parsestr(archive.read(info).decode())
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Version"] == windlass.__version__
    assert {"worker", "pydantic", "uvloop", "all"} <= set(metadata.get_all("Provides-Extra", []))
    required = metadata.get_all("Requires-Dist", [])
    assert [line for line in required if "extra ==" not in line] == ["msgspec<1,>=0.20"]
    assert "windlass-worker" in commands


def test_source_distribution_holds_the_sources_without_tests(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(PROJECT)
        archive = tmp_path / build_sdist(str(tmp_path))
    with tarfile.open(archive) as sources:
        names = {name.partition("/")[2] for name in sources.getnames()}
    assert names >= {f"src/{name}" for name in TREE} | {"LICENSE", "pyproject.toml"}
    assert not [name for name in names if name.startswith("tests")]


def test_installed_wheel_without_extras_runs_workflows_and_names_the_extra_of_the_worker(
    wheel: Path, tmp_path: Path
) -> None:
    """The environment has msgspec alone, linked from that of the tests; nothing is downloaded."""
    home = tmp_path / "venv"
    venv.create(home, with_pip=False)
    site = next(home.glob("lib/python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    import msgspec

    (site / "msgspec").symlink_to(Path(msgspec.__file__).parent)
    code = (
        "from windlass import workflow\n"
        "@workflow\nasync def main(ctx): return ctx.input\n"
        "print(main.run(5).output)\n"
        "from windlass._commands import worker\n"
        "raise SystemExit(worker())"
    )
    python = [str(home / "bin/python"), "-I", "-c", code]
    run = subprocess.run(python, capture_output=True, text=True, check=False)
    assert run.stdout == "5\n", run.stderr
    assert run.returncode == 2
    assert run.stderr == (
        "windlass-worker: the package aiohttp is missing; "
        "install it with: pip install 'windlass[worker]'\n"
    )


def test_command_of_the_worker_prints_its_help() -> None:
    command = Path(sys.executable).parent / "windlass-worker"
    run = subprocess.run([command, "--help"], capture_output=True, text=True, check=False)
    assert run.returncode == 0
    assert "start" in run.stdout


@pytest.fixture(scope="module")
def typed_project(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Project with the wheel in an environment of its own, next to the packages of the tests."""
    project = tmp_path_factory.mktemp("project")
    venv.create(project / "venv", with_pip=False)
    site = next(project.glob("venv/lib/python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # A path in a .pth file is searched last, and the .pth files in it, such as that of the editable
    # SDK, are not read.
    (site / "tests.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n")
    for source in (Path(__file__).parent / "public_types.py", *EXAMPLES.glob("*.py")):
        shutil.copy(source, project)
    return project


def test_project_with_the_wheel_passes_the_strict_checks_of_mypy(typed_project: Path) -> None:
    python = typed_project / "venv/bin/python"
    options = ["--strict", "--no-incremental", "--python-executable", str(python)]
    files = [path.name for path in typed_project.glob("*.py")]
    mypy = [sys.executable, "-m", "mypy", *options, *files]
    run = subprocess.run(mypy, capture_output=True, text=True, check=False, cwd=typed_project)
    assert run.stdout == f"Success: no issues found in {len(files)} source files\n", run.stderr


def test_project_with_the_wheel_passes_the_strict_checks_of_pyright(typed_project: Path) -> None:
    pyright = PROJECT.parents[1] / "node_modules/.bin/pyright"
    if not pyright.exists():
        pytest.skip("pyright is a package of Node, which this checkout has not installed")
    config = {"typeCheckingMode": "strict", "include": ["*.py"], "pythonVersion": "3.11"}
    (typed_project / "pyrightconfig.json").write_text(json.dumps(config))
    command = [str(pyright), "--pythonpath", str(typed_project / "venv/bin/python")]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=typed_project)
    assert "0 errors, 0 warnings" in run.stdout, run.stdout + run.stderr
