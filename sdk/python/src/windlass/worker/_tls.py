"""Encryption of the connection to the server."""

from __future__ import annotations

import ssl
from ipaddress import ip_address
from urllib.parse import urlsplit

from windlass.worker._settings import Settings


def require_encryption(server_url: str, *, is_insecure_allowed: bool) -> None:
    """Raises ValueError for plain HTTP to another host, unless that is allowed explicitly.

    The bootstrap token and the payloads of all executions travel over this connection.
    """
    url = urlsplit(server_url)
    if url.scheme == "https":
        return
    if url.scheme != "http":
        raise ValueError(f"the server URL {server_url!r} must begin with http:// or https://")
    if not is_insecure_allowed and not _is_loopback(url.hostname or ""):
        raise ValueError(
            f"{server_url} is not encrypted; use https://, or --insecure on a trusted network"
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def create_ssl_context(settings: Settings) -> ssl.SSLContext:
    """Returns a context that checks the server. Raises OSError for missing or invalid files."""
    context = ssl.create_default_context(cafile=settings.ca_file)
    if settings.client_cert is not None:
        context.load_cert_chain(settings.client_cert, settings.client_key)
    return context
