"""The examples of the README and `docs/python`: blocks of a page run in one module, in order."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from windlass.testing import Engine

# Needs a running system: tests_system/test_client.py runs its examples.
WITH_SYSTEM = {"client.md"}
PROJECT = Path(__file__).parents[3]
PAGES = [
    page
    for page in [PROJECT / "sdk/python/README.md", *sorted((PROJECT / "docs/python").glob("*.md"))]
    if page.name not in WITH_SYSTEM
]
TEXTS = {page: page.read_text() for page in PAGES}
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.name}")
async def test_examples_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # pages may write files
    text = TEXTS[page]
    module = ModuleType(f"document_{page.stem}")
    sys.modules[module.__name__] = module
    # Tests of a page import the workflows of its file.
    monkeypatch.setitem(sys.modules, "greetings", module)
    try:
        for block in BLOCK.finditer(text):
            # Blank lines keep the line numbers of the page in tracebacks.
            code = "\n" * text.count("\n", 0, block.start(1)) + block.group(1)
            exec(compile(code, str(page), "exec", dont_inherit=True), vars(module))
        for name, function in list(vars(module).items()):
            if name.startswith("test_"):
                await _run_test(function)
    finally:
        del sys.modules[module.__name__]


def test_every_page_has_examples() -> None:
    assert [page for page, text in TEXTS.items() if not BLOCK.search(text)] == []


def test_table_of_bad_input_names_tests_that_exist() -> None:
    text = (PROJECT / "docs/worker-protocol.md").read_text()
    rows = re.findall(r"^\| .*", text[text.index("## Bad input") :], re.MULTILINE)[2:]
    assert len(rows) >= 20
    for row in rows:
        named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", row)
        assert named, row
        for file, name in named:
            assert f"def {name}(" in (Path(__file__).parent / file).read_text(), name


async def _run_test(function: object) -> None:
    assert inspect.iscoroutinefunction(function)
    if "engine" not in inspect.signature(function).parameters:
        await function()
        return
    with Engine() as engine:
        await function(engine=engine)


def test_workflow_and_tests_of_the_readme_pass_next_to_other_tests(tmp_path: Path) -> None:
    text = (PROJECT / "README.md").read_text()
    source, tests = (block.group(1) for block in BLOCK.finditer(text))
    (tmp_path / "greetings.py").write_text(source)
    (tmp_path / "test_greetings.py").write_text(tests)
    # The clone has tests with packages that the README does not install.
    (tmp_path / "test_other.py").write_text("import package_that_is_not_installed")
    arguments = re.search(r"^pytest (.*)$", text, re.MULTILINE)
    assert arguments is not None
    command = [sys.executable, "-m", "pytest", "-q", *arguments[1].split()]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "2 passed" in run.stdout, run.stdout + run.stderr


def test_first_test_of_the_guide_passes_in_a_folder_of_its_own(tmp_path: Path) -> None:
    text = TEXTS[PROJECT / "docs/python/README.md"]
    source, _, tests = (block.group(1) for block in BLOCK.finditer(text))
    settings = re.search(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert settings is not None
    (tmp_path / "greetings.py").write_text(source)
    (tmp_path / "test_greetings.py").write_text(tests)
    (tmp_path / "pyproject.toml").write_text(settings[1])
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "2 passed" in run.stdout, run.stdout + run.stderr
