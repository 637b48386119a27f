"""Encryption of connections to a server."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


def require_encryption(server_url: str, *, is_insecure_allowed: bool) -> None:
    """Raises ValueError for plain HTTP to another host, unless that is allowed explicitly.

    Tokens and the payloads of executions travel over this connection.
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
