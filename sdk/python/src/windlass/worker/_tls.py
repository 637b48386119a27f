"""Certificates of the connection to the server."""

from __future__ import annotations

import ssl

from windlass.worker._settings import Settings


def create_ssl_context(settings: Settings) -> ssl.SSLContext:
    """Returns a context that checks the server. Raises OSError for missing or invalid files."""
    context = ssl.create_default_context(cafile=settings.ca_file)
    if settings.client_cert is not None:
        context.load_cert_chain(settings.client_cert, settings.client_key)
    return context
