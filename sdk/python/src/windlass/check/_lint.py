"""Static check: code of a workflow, outside of tasks, whose result differs between runs.

The check follows the calls of a workflow's body through functions and methods of the file, but not
into tasks: there, everything is allowed. It knows names, not values: a clock that is passed as an
argument is not found.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_TASK = "put it into a task"

# Kind of the finding, advice, and dotted names or prefixes of them; the longest one decides.
_KINDS = (
    (
        "the clock",
        "use now() or put it into a task",
        """time.time time.time_ns time.monotonic time.monotonic_ns time.perf_counter time.localtime
        time.gmtime datetime.datetime.now datetime.datetime.utcnow datetime.datetime.today
        datetime.date.today""",
    ),
    ("a wait that is not recorded", "use sleep()", "time.sleep asyncio.sleep"),
    (
        "randomness",
        "use randint(), choice(), uuid4() or a task",
        "random secrets uuid.uuid1 uuid.uuid4 os.urandom numpy.random",
    ),
    (
        "the environment",
        _TASK,
        """os.environ os.getenv os.getpid os.getcwd os.uname sys.argv platform socket.gethostname
        getpass""",
    ),
    (
        "input or output",
        _TASK,
        """open input io.open os.open os.read os.write os.remove os.rename os.listdir os.scandir
        os.mkdir os.makedirs os.system os.popen os.stat os.path.exists os.path.getsize subprocess
        socket shutil tempfile requests httpx aiohttp urllib.request http.client smtplib ftplib
        sqlite3 psycopg psycopg2 asyncpg pymongo redis boto3 sqlalchemy asyncio.open_connection
        asyncio.create_subprocess_exec asyncio.create_subprocess_shell threading.Thread
        multiprocessing""",
    ),
    ("a value that differs between processes", _TASK, "id hash"),
)
_NAMES = {name: (kind, hint) for kind, hint, names in _KINDS for name in names.split()}
_BUILT_IN = {"open", "input", "id", "hash"}
_METHODS = {"read_text", "write_text", "read_bytes", "write_bytes", "unlink", "iterdir", "glob"}

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Finding:
    """Place at which the result of a workflow's code differs between runs."""

    path: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.message}"


def lint(path: Path) -> list[Finding]:
    """Returns the findings of a file in the order of its lines. Raises SyntaxError."""
    module = _Module(path, ast.parse(path.read_bytes(), str(path)))
    return sorted(set(module.find()), key=lambda finding: (finding.line, finding.column))


class _Module:
    def __init__(self, path: Path, tree: ast.Module) -> None:
        self._path = path
        self._tree = tree
        self._imports: dict[str, str] = {}
        self._functions: dict[str, _Function] = {}
        for node in ast.walk(tree):
            self._add_import(node)
            if isinstance(node, _Function):
                self._functions.setdefault(node.name, node)

    def find(self) -> Iterator[Finding]:
        for function in self._functions.values():
            if self._is_decorated(function, "workflow"):
                yield from self._find_in(function, function.name)

    def _find_in(self, workflow: _Function, name: str) -> Iterator[Finding]:
        reached = [workflow]
        # The loop also visits the functions that it appends.
        for function in reached:
            for node in _walk(function):
                if not isinstance(node, ast.Name | ast.Attribute | ast.Call):
                    continue
                called = self._functions.get(_last_name(node))
                is_plain = called and not self._is_decorated(called, "task")
                if called and is_plain and called not in reached:
                    reached.append(called)
                found = self._describe(node)
                if found:
                    kind, hint, used = found
                    where = "" if function is workflow else f" in {function.name}"
                    text = f"{used}: {kind} reaches the workflow {name}{where}: {hint}"
                    yield Finding(str(self._path), node.lineno, node.col_offset + 1, text)

    def _describe(self, node: ast.AST) -> tuple[str, str, str] | None:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _METHODS:
                return ("input or output", _TASK, node.func.attr)
            return None
        if not isinstance(node, ast.Name | ast.Attribute):
            return None
        dotted = self._resolve(node)
        parts = dotted.split(".") if dotted else []
        for length in range(len(parts), 0, -1):
            kind = _NAMES.get(".".join(parts[:length]))
            if kind:
                return (*kind, dotted)
        return None

    def _resolve(self, node: ast.AST) -> str:
        """Returns the dotted name behind an expression, or an empty text."""
        if isinstance(node, ast.Attribute):
            base = self._resolve(node.value)
            return f"{base}.{node.attr}" if base else ""
        if not isinstance(node, ast.Name) or node.id in self._functions:
            return ""
        if node.id in self._imports:
            return self._imports[node.id]
        return node.id if node.id in _BUILT_IN else ""

    def _add_import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                self._imports[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                self._imports[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def _is_decorated(self, function: _Function, kind: str) -> bool:
        for decorator in function.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            while isinstance(target, ast.Attribute):
                if target.attr == kind:
                    return True
                target = target.value
            if isinstance(target, ast.Name):
                name = self._imports.get(target.id, target.id)
                if name.rpartition(".")[2] == kind:
                    return True
        return False


def _walk(function: _Function) -> Iterator[ast.AST]:
    """Yields the nodes of a function's body, the longest dotted name of each expression only."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, ast.Attribute) and _is_dotted(node):
            continue
        todo += ast.iter_child_nodes(node)


def _is_dotted(node: ast.AST) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
