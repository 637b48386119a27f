"""Certificates of the connection to the server."""

from __future__ import annotations

import ssl
from pathlib import Path

from windlass.worker._settings import Settings


def create_ssl_context(settings: Settings) -> ssl.SSLContext:
    """Returns a context that checks the server. Raises OSError for missing or invalid files."""
    require_readable(settings, "ca_file", "client_cert", "client_key")
    context = ssl.create_default_context(cafile=settings.ca_file)
    if settings.client_cert is not None:
        context.load_cert_chain(settings.client_cert, settings.client_key)
    return context


def require_readable(settings: Settings, *names: str) -> None:
    """Raises OSError with setting and path for a file that cannot be read; `ssl` names neither."""
    for name in names:
        path: str | None = getattr(settings, name)
        try:
            if path is not None:
                Path(path).read_bytes()
        except OSError as error:
            text = f"[svc.worker].{name}: cannot read {path}: {error.strerror}"
            raise OSError(text) from error
