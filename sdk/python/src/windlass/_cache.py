"""Result cache of tasks with the option `cache`; shared by executions of one working directory."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any
from uuid import uuid4

from windlass._json import encode

DEFAULT_DIRECTORY = Path(".windlass") / "cache"


class ResultCache:
    """Cache with one file per task and arguments. Entries never expire; None is not cached."""

    def __init__(self, directory: Path = DEFAULT_DIRECTORY) -> None:
        self._directory = directory

    def find(self, key: str) -> Any:
        """Returns the cached result, or None."""
        try:
            return json.loads(self._file(key).read_bytes())
        except (OSError, ValueError):
            return None

    def store(self, key: str, value: Any) -> None:
        """Caches a result. The file is replaced atomically: a reader never sees a partial one."""
        if value is None:
            return
        self._directory.mkdir(parents=True, exist_ok=True)
        temporary = self._directory / f"{uuid4().hex}.tmp"
        temporary.write_text(encode(value))
        os.replace(temporary, self._file(key))

    def _file(self, key: str) -> Path:
        return self._directory / f"{hashlib.sha256(key.encode()).hexdigest()}.json"
