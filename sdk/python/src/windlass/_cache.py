"""Result cache of tasks with the option `cache`; shared by executions of one working directory.

A cached result is found again only by the same task, with the same code and arguments, of the same
version of the same workflow. Without namespace and workflow in the key, a task of one tenant would
read the results of another one.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from windlass._file_limits import FileLimits
from windlass._json import encode
from windlass._namespace import namespace_folder
from windlass._narrow import is_list, is_object, is_tuple
from windlass._private_files import (
    make_private_folder,
    restrict_folder,
    write_private_file,
)

DEFAULT_DIRECTORY = Path(".windlass") / "cache"


@dataclass(frozen=True, slots=True)
class CacheKey:
    """Identity of a result. `version` is the id of the workflow's version, empty in inline runs."""

    namespace: str
    workflow: str
    version: str
    task: str
    code: str
    call: str

    @property
    def file_name(self) -> str:
        """Name of the file, without the folder of the namespace."""
        parts = [self.namespace, self.workflow, self.version, self.task, self.code, self.call]
        return f"{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}.json"


@dataclass(frozen=True, slots=True)
class CacheLimits:
    """Limits of a cache; the oldest entries are deleted first."""

    max_bytes: int = 256 * 1024 * 1024
    max_entry_bytes: int = 16 * 1024 * 1024
    max_age_s: float = 7 * 24 * 3600.0


DEFAULT_LIMITS = CacheLimits()


def is_same(one: Any, other: Any) -> bool:
    """True for equal values of equal classes, also inside of lists, tuples and dictionaries."""
    if type(one) is not type(other):
        return False
    if is_object(one):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if is_list(one) or is_tuple(one):
        return len(one) == len(other) and all(map(is_same, one, other))
    try:
        return bool(one == other)
    except Exception:  # arrays are compared element by element
        return False


class TaskCache(Protocol):
    """Store of results. Its methods may block and are called in a thread."""

    def find(self, key: CacheKey, now: datetime, ttl_s: float | None) -> Any:
        """Returns the cached result unless it is older than `ttl_s`, or None."""

    def store(self, key: CacheKey, value: Any, now: datetime) -> None:
        """Caches a result; None and values without a JSON form are not cached."""


class ResultCache:
    """Cache with one file per result. None is not cached."""

    def __init__(
        self, directory: Path = DEFAULT_DIRECTORY, limits: CacheLimits = DEFAULT_LIMITS
    ) -> None:
        self._directory = directory.absolute()
        self._limits = limits
        self._files = FileLimits(
            self._directory, limits.max_bytes, limits.max_age_s, lambda name: name.endswith(".json")
        )

    def find(self, key: CacheKey, now: datetime, ttl_s: float | None) -> Any:
        """Returns the cached result unless it is older than `ttl_s`, or None."""
        path = self._path(key)
        max_age_s = min(self._limits.max_age_s, math.inf if ttl_s is None else ttl_s)
        try:
            if now.timestamp() - path.stat().st_mtime > max_age_s:
                return None
            return json.loads(path.read_bytes())
        except (OSError, ValueError):
            return None

    def store(self, key: CacheKey, value: Any, now: datetime) -> None:
        """Caches a result, unless it is larger than an entry may be."""
        if value is None:
            return
        content = encode(value).encode()
        if len(content) > self._limits.max_entry_bytes:
            return
        restrict_folder(self._directory)
        path = self._path(key)
        make_private_folder(path.parent)
        write_private_file(path, content)
        os.utime(path, (now.timestamp(), now.timestamp()))
        self._files.on_stored(len(content))

    def _path(self, key: CacheKey) -> Path:
        return self._directory / namespace_folder(key.namespace) / key.file_name
