"""Namespace of the running workflow, for what a worker stores outside of the log."""

from __future__ import annotations

import hashlib
import re
from contextvars import ContextVar

# Set for the duration of a run; empty outside of one.
current_namespace: ContextVar[str] = ContextVar("windlass_namespace", default="")

_SAFE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def namespace_folder(namespace: str) -> str:
    """Returns the name of the namespace's folder: the namespace, or a hash if it is no file name.

    Every name begins with `ns-`, so that no folder has the name of a stored file.
    """
    if _SAFE.fullmatch(namespace):
        return f"ns-{namespace}"
    # A valid namespace has no dot, so no other namespace has this folder.
    return f"ns-.{hashlib.sha256(namespace.encode(errors='surrogatepass')).hexdigest()}"
