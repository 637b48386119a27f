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
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from windlass._json import encode
from windlass._namespace import namespace_folder
from windlass._private_files import (
    TEMPORARY_SUFFIX,
    make_private_folder,
    restrict_folder,
    write_private_file,
)

DEFAULT_DIRECTORY = Path(".windlass") / "cache"

# Oldest time of the last sweep that lets a store skip the next one, in seconds.
SWEEP_INTERVAL_S = 60.0
# A temporary file that is older is left over from a process that ended.
TEMPORARY_AGE_S = 3600.0


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


@dataclass(slots=True)
class _Sweep:
    at: float
    stored_bytes: int = 0


_sweeps: dict[Path, _Sweep] = {}


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
        self._sweep_if_due(len(content))

    def _path(self, key: CacheKey) -> Path:
        return self._directory / namespace_folder(key.namespace) / key.file_name

    def _sweep_if_due(self, stored_bytes: int) -> None:
        now = time.monotonic()
        last = _sweeps.get(self._directory)
        if last:
            last.stored_bytes += stored_bytes
            is_due = last.stored_bytes * 8 > self._limits.max_bytes
            if not is_due and now - last.at < SWEEP_INTERVAL_S:
                return
        _sweeps[self._directory] = _Sweep(now)
        self._sweep()

    def _sweep(self) -> None:
        """Deletes expired entries, then the oldest ones above the size limit."""
        now = time.time()
        entries = sorted(self._entries(), key=lambda entry: entry[1].st_mtime, reverse=True)
        total = 0
        for path, status in entries:
            age_s = now - status.st_mtime
            is_temporary = path.endswith(TEMPORARY_SUFFIX)
            total += status.st_size
            if (
                age_s > (TEMPORARY_AGE_S if is_temporary else self._limits.max_age_s)
                or total > self._limits.max_bytes
            ):
                total -= status.st_size
                _delete(path)

    def _entries(self) -> Iterator[tuple[str, os.stat_result]]:
        """Lists the files of all namespaces, and those of earlier releases in the folder itself."""
        for folder, _, names in os.walk(self._directory):
            for name in names:
                path = os.path.join(folder, name)
                try:
                    yield path, os.stat(path, follow_symlinks=False)
                except FileNotFoundError:
                    continue


def _delete(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
