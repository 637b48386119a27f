"""Workflow sources as Python modules, cached by version."""

from __future__ import annotations

import asyncio
import base64
import contextvars
from collections import Counter, OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from windlass import compat
from windlass._slices import wait_in_slices
from windlass._source_text import SOURCE_PREFIX, SourceText, load_source, unload_source
from windlass._sources import list_workflows
from windlass.errors import ImportTimeout, WorkflowNotFoundError
from windlass.worker._models import Source
from windlass.workflow import Workflow

MAX_MODULES = 64
IMPORT_TIMEOUT_S = 30.0


class Modules:
    """LRU cache of modules by workflow id and version. Used only in the user's event loop."""

    def __init__(self, max_modules: int = MAX_MODULES, file: str | None = None) -> None:
        """With `file`, modules have its name, so that a debugger finds their lines there."""
        self._max_modules = max_modules
        self._file = file
        self._loading: OrderedDict[tuple[str, int], asyncio.Task[ModuleType]] = OrderedDict()
        # Number of runs that use a module. Annotations, pickles and processes of tasks find it by
        # its name, so it stays as long.
        self._users: Counter[tuple[str, int]] = Counter()
        compat.install()

    @contextmanager
    def using(self, source: Source) -> Generator[None, None, None]:
        """Keeps the module of a source in the meantime, however many others are loaded."""
        key = (source.id, source.version)
        self._users[key] += 1
        try:
            yield
        finally:
            self._users[key] -= 1
            if not self._users[key]:
                del self._users[key]
                self._evict_oldest()

    async def load_workflow(self, source: Source) -> Workflow[Any, Any]:
        """Returns the workflow of a source. Raises any exception of importing the source."""
        key = (source.id, source.version)
        loading = self._loading.get(key)
        if loading is None:
            # Loaded in a thread because an import may take seconds, and in an empty context: tasks
            # that an execution creates end with it, but other executions may wait for this module
            # too.
            loading = asyncio.create_task(
                asyncio.to_thread(load_module, source, self._file), context=contextvars.Context()
            )
            self._loading[key] = loading
        self._loading.move_to_end(key)
        # A cancel of one execution does not cancel the import, for which others may wait.
        if await wait_in_slices({loading}, IMPORT_TIMEOUT_S):
            # It still runs in its thread; later executions wait for the same one.
            message = f"importing the source took longer than {IMPORT_TIMEOUT_S:g} seconds"
            raise ImportTimeout(message=message)
        try:
            module = loading.result()
        except Exception:
            self._loading.pop(key, None)
            raise
        self._evict_oldest()
        return find_workflow(module, source)

    def _evict_oldest(self) -> None:
        excess = len(self._loading) - self._max_modules
        unused = [key for key in self._loading if key not in self._users] if excess > 0 else []
        for key in unused[:excess]:
            loading = self._loading.pop(key)
            if loading.done() and not loading.exception():
                unload_source(loading.result())


def read_text(source: Source) -> str:
    """Returns the text of an uploaded source."""
    return base64.b64decode(source.base64).decode("utf-8-sig")


def load_module(source: Source, file: str | None = None) -> ModuleType:
    """Loads an uploaded source as a module, under the name of a file if there is one."""
    text = read_text(source)
    filename = file or f"<{source.namespace}/{source.name} version {source.version}>"
    name = f"{SOURCE_PREFIX}{source.id}_{source.version}"
    return load_source(SourceText(name, filename, text))


def find_workflow(module: ModuleType, source: Source) -> Workflow[Any, Any]:
    """Returns the workflow of the source in the module. Raises WorkflowNotFoundError."""
    workflows = list(list_workflows(module))
    for workflow in workflows:
        if (workflow.namespace, workflow.name) == (source.namespace, source.name):
            return workflow
    for workflow in workflows:
        # The server analyses sources without running them, so it knows a computed name only by the
        # name of the function.
        if source.name in {workflow.name, getattr(workflow.func, "__name__", None)}:
            return workflow
    raise WorkflowNotFoundError(
        f"version {source.version} of the source defines no workflow "
        f"'{source.namespace}/{source.name}'"
    )
