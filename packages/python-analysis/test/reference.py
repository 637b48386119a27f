"""Reference for the static analysis: the findings of CPython's own compiler.

Reads JSON lines of {name, source (base64)} and answers for each whether Python compiles it, and the
functions that the SDK's decorators mark, with the options that are written as literals.
"""

import ast
import base64
import json
import sys

SDK = ("windlass", "flux")


class Finder(ast.NodeVisitor):
    """Follows names bound by imports alone; a name bound by anything else is not the SDK's."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.found: list[dict] = []

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            root = alias.name.split(".")[0]
            self.names[alias.asname or root] = alias.name if alias.asname else root

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self.names[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            path = self.path(call.func if call else decorator).split(".")
            if path[0] not in SDK:
                continue
            if path[-1] == "with_options":
                path.pop()
            if path[-1] in ("workflow", "task"):
                self.found.append(
                    {
                        "kind": path[-1],
                        "function": node.name,
                        "line": node.lineno,
                        "options": self.literals(call),
                    }
                )
                break
        self.generic_visit(node)

    def literals(self, call: ast.Call | None) -> dict:
        options = {}
        for keyword in call.keywords if call else []:
            try:
                options[keyword.arg] = ast.literal_eval(keyword.value)
            except ValueError:
                pass
        return options

    def path(self, node: ast.expr) -> str:
        if isinstance(node, ast.Attribute):
            return f"{self.path(node.value)}.{node.attr}"
        return self.names.get(node.id, node.id) if isinstance(node, ast.Name) else "?"


def judge(source: bytes) -> dict:
    try:
        compile(source, "source", "exec", dont_inherit=True)
        tree = compile(source, "source", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return {"error": str(error), "line": getattr(error, "lineno", None)}
    finder = Finder()
    finder.visit(tree)
    return {"found": finder.found}


for line in sys.stdin:
    given = json.loads(line)
    print(json.dumps({"name": given["name"], **judge(base64.b64decode(given["source"]))}))
