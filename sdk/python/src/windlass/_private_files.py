"""Files that only the user of the worker can read: results of tasks may hold secrets."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

TEMPORARY_SUFFIX = ".tmp"
KEY_BYTES = 32


def make_private_folder(path: Path) -> None:
    """Creates a folder with mode 0700, and its parents. A folder that exists keeps its mode."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)


def restrict_folder(path: Path) -> None:
    """Creates a folder with mode 0700, or changes the mode of an existing one of this user."""
    make_private_folder(path)
    status = path.stat()
    if status.st_mode & 0o077 and status.st_uid == os.geteuid():
        path.chmod(0o700)


def write_private_file(path: Path, content: bytes) -> None:
    """Replaces a file by one with mode 0600, atomically: a reader never sees a partial one."""
    temporary = path.parent / f"{uuid4().hex}{TEMPORARY_SUFFIX}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def shared_key(path: Path) -> bytes:
    """Returns the 32 random bytes of a key file, which the first process that asks creates."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        make_private_folder(path.parent)
    candidate = path.parent / f"{uuid4().hex}{TEMPORARY_SUFFIX}"
    write_private_file(candidate, os.urandom(KEY_BYTES))
    try:
        # Fails if another process was faster. The file appears with all of its content.
        os.link(candidate, path)
    except FileExistsError:
        pass
    finally:
        candidate.unlink()
    return path.read_bytes()
