"""Modules that are loaded from texts, such as uploaded sources."""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass
from types import ModuleType

# Start of the names of modules that hold uploaded sources; id and version follow.
SOURCE_PREFIX = "windlass_source_"


@dataclass(frozen=True, slots=True)
class SourceText:
    """Text of a module without a file; `filename` is what tracebacks show."""

    module: str
    filename: str
    text: str


# Modules of this process that were loaded from texts, by name: another process can load them too.
SOURCES: dict[str, SourceText] = {}


def load_source(source: SourceText) -> ModuleType:
    """Loads a text as a module. Tracebacks show its lines although no file exists."""
    text, filename = source.text, source.filename
    module = ModuleType(source.module, None)
    module.__file__ = filename
    code = compile(text, filename, "exec", dont_inherit=True)
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    # Dataclasses and pickle look up their module by name.
    sys.modules[module.__name__] = module
    SOURCES[module.__name__] = source
    try:
        exec(code, module.__dict__)
    except BaseException as error:
        unload_source(module)
        if isinstance(error, Exception):
            raise
        raise ImportError(f"importing the source would end the process: {error!r}") from error
    return module


def unload_source(module: ModuleType) -> None:
    """Removes a module from the interpreter."""
    sys.modules.pop(module.__name__, None)
    SOURCES.pop(module.__name__, None)
    linecache.cache.pop(module.__file__ or "", None)
