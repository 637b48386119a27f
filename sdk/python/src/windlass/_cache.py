"""Results that outlive their execution: of tasks with the option `cache`."""

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
    """One file per task and arguments, kept until somebody removes it. None is never kept."""

    def __init__(self, directory: Path = DEFAULT_DIRECTORY) -> None:
        self._directory = directory

    def find(self, key: str) -> Any:
        """The kept result, or None."""
        try:
            return json.loads(self._file(key).read_bytes())
        except (OSError, ValueError):
            return None

    def store(self, key: str, value: Any) -> None:
        """Keeps a result. A reader never sees half of it."""
        if value is None:
            return
        self._directory.mkdir(parents=True, exist_ok=True)
        temporary = self._directory / f"{uuid4().hex}.tmp"
        temporary.write_text(encode(value))
        os.replace(temporary, self._file(key))

    def _file(self, key: str) -> Path:
        return self._directory / f"{hashlib.sha256(key.encode()).hexdigest()}.json"
