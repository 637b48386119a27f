"""Limits of age and size for a folder of files, such as cached or stored results."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from windlass._private_files import TEMPORARY_SUFFIX

# Oldest time of the last sweep that lets a store skip the next one, in seconds.
SWEEP_INTERVAL_S = 60.0
# A temporary file that is older is left over from a process that ended.
TEMPORARY_AGE_S = 3600.0


@dataclass(slots=True)
class _Sweep:
    at: float
    stored_bytes: int = 0


_sweeps: dict[Path, _Sweep] = {}


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Limits of the files below `directory` that `is_entry` accepts by name.

    Several processes may share the folder: each of them sweeps it, and a file that another one has
    deleted is no error. The age of a file is the time since its modification.
    """

    directory: Path
    max_bytes: float
    max_age_s: float
    is_entry: Callable[[str], bool]

    def on_stored(self, stored_bytes: int) -> None:
        """Is called after a file was written; sweeps from time to time."""
        now = time.monotonic()
        last = _sweeps.get(self.directory)
        if last:
            last.stored_bytes += stored_bytes
            is_due = last.stored_bytes * 8 > self.max_bytes
            if not is_due and now - last.at < SWEEP_INTERVAL_S:
                return
        _sweeps[self.directory] = _Sweep(now)
        self._sweep()

    def _sweep(self) -> None:
        """Deletes expired files, then the oldest ones above the size limit."""
        now = time.time()
        entries = sorted(self._entries(), key=lambda entry: entry[1].st_mtime, reverse=True)
        total = 0
        for path, status in entries:
            age_s = now - status.st_mtime
            is_temporary = path.endswith(TEMPORARY_SUFFIX)
            total += status.st_size
            if (
                age_s > (TEMPORARY_AGE_S if is_temporary else self.max_age_s)
                or total > self.max_bytes
            ):
                total -= status.st_size
                _delete(path)

    def _entries(self) -> Iterator[tuple[str, os.stat_result]]:
        """Lists the files of all namespaces, and those of earlier releases in the folder itself."""
        for folder, _, names in os.walk(self.directory):
            for name in names:
                if not (self.is_entry(name) or name.endswith(TEMPORARY_SUFFIX)):
                    continue
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
