"""The sources of the catalog's tests: what the catalog accepts, the SDK can import.

Both read the same files: `packages/python-analysis/test/corpus`. A golden file holds the workflows
that the analysis finds in a source, or its refusal.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from windlass import Workflow
from windlass._options import TaskOptionNames
from windlass.workflow import WorkflowOptionNames

ANALYSIS = Path(__file__).parents[3] / "packages" / "python-analysis"
CORPUS = ANALYSIS / "test" / "corpus"
GOLDEN = {path.stem: json.loads(path.read_text()) for path in sorted(CORPUS.glob("*.golden"))}
NEWER_SYNTAX = {"generic_function", "recursive_alias"}
ACCEPTED = [name for name, found in GOLDEN.items() if isinstance(found, list)]


# What one of the sources imports from a package of its author.
MYLIB = ModuleType("mylib")
MYLIB.__dict__["Thing"] = type("Thing", (), {})


def import_source(name: str) -> dict[str, Any]:
    module = ModuleType(f"corpus_{name}")
    sys.modules[module.__name__] = module
    sys.modules["mylib"] = MYLIB
    try:
        if "import numpy" in (CORPUS / f"{name}.py").read_text(errors="replace"):
            pytest.importorskip("numpy")
        code = compile(
            (CORPUS / f"{name}.py").read_bytes(), f"{name}.py", "exec", dont_inherit=True
        )
        exec(code, vars(module))
    finally:
        del sys.modules[module.__name__], sys.modules["mylib"]
    return vars(module)


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted_source_is_imported(name: str) -> None:
    if name in NEWER_SYNTAX and sys.version_info < (3, 12):
        pytest.skip("the source has syntax of Python 3.12")
    names = import_source(name)
    found = {
        (value.namespace, value.name) for value in names.values() if isinstance(value, Workflow)
    }
    assert found <= {(workflow["namespace"], workflow["name"]) for workflow in GOLDEN[name]}


@pytest.mark.parametrize(
    ("constant", "names"),
    [("TASK_OPTIONS", TaskOptionNames), ("WORKFLOW_OPTIONS", WorkflowOptionNames)],
)
def test_catalog_accepts_exactly_the_options_of_the_sdk(constant: str, names: type) -> None:
    text = (ANALYSIS / "src" / "options" / "option-names.ts").read_text()
    match = re.search(rf"const {constant} = `([^`]*)`", text)
    assert match
    assert sorted(match.group(1).split()) == sorted(names.__annotations__)
