"""Codecs of payloads: compress or encrypt values before they leave the process.

The worker and the client apply the codec to every value that they send, and its reverse to every
value that they receive. The server, its database, the console and the CLI see an envelope instead:

    {"$codec": "aes-gcm", "key": "2026-11", "data": "…base64…"}

`windlass-worker start --codec module:function` and `Client(url, codec=...)` take one.
"""

from __future__ import annotations

import importlib
import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from windlass.errors import PayloadCodecError

__all__ = ["AesGcmCodec", "PayloadCodec", "ZlibCodec"]

# Decompressed; the server accepts bodies of 16 MiB.
MAX_BYTES = 256 * 1024 * 1024

NONCE_BYTES = 12
PURPOSE = b"windlass-payload-1\0"
PLAIN, DEFLATED = b"\0", b"\1"


class PayloadCodec(ABC):
    """Converts the JSON text of values (UTF-8) to other bytes and back. Callable from any thread.

    Attributes:
        name: identifies the codec in envelopes; letters, digits, `.`, `_`, `+` and `-`.
    """

    name: str

    @abstractmethod
    def encode(self, data: bytes) -> tuple[str, bytes]:
        """Returns the id of the key that was used, empty if there is none, and the encoded bytes.

        Key ids have no quotes and no backslashes; envelopes show them.
        """

    @abstractmethod
    def decode(self, data: bytes, key: str) -> bytes:
        """Returns the bytes that were passed to `encode`.

        Raises PayloadCodecError if the key is unknown or the bytes were changed.
        """


class ZlibCodec(PayloadCodec):
    """Compresses values. They stay readable: anyone can decompress them."""

    name = "zlib"

    def __init__(self, level: int = 6) -> None:
        self._level = level

    def encode(self, data: bytes) -> tuple[str, bytes]:
        """Returns the compressed bytes."""
        return "", zlib.compress(data, self._level)

    def decode(self, data: bytes, key: str) -> bytes:
        """Returns the decompressed bytes. Raises PayloadCodecError for other data."""
        return _decompress(data)


class AesGcmCodec(PayloadCodec):
    """Encrypts values with AES-GCM. Needs the package cryptography: `windlass[encryption]`.

    Args:
        keys: keys of 16, 24 or 32 bytes by id. All of them decrypt.
        current: id of the key that encrypts.
        compress: compresses values before. The size of a value then says something about its
            content; leave it off where an attacker can choose parts of a value.

    To rotate, add the new key to all workers and clients, then make it the current one there. Keep
    a key as long as executions exist whose values it has encrypted. A key may encrypt four billion
    values.

        def create_codec() -> PayloadCodec:
            key = base64.b64decode(os.environ["PAYLOAD_KEY"])
            return AesGcmCodec({"2026-11": key}, current="2026-11")
    """

    name = "aes-gcm"

    def __init__(self, keys: Mapping[str, bytes], current: str, *, compress: bool = False) -> None:
        if current not in keys:
            raise ValueError(f"there is no key {current!r}; the keys are {', '.join(keys)}")
        self._ciphers = {key_id: _create_cipher(key_id, key) for key_id, key in keys.items()}
        self._current = current
        self._compress = compress

    def encode(self, data: bytes) -> tuple[str, bytes]:
        """Returns the id of the current key, and the nonce with the encrypted bytes."""
        deflated = DEFLATED + zlib.compress(data) if self._compress else None
        plain = PLAIN + data
        chosen = deflated if deflated is not None and len(deflated) < len(plain) else plain
        nonce = os.urandom(NONCE_BYTES)
        bound = PURPOSE + self._current.encode()
        return self._current, nonce + self._ciphers[self._current].encrypt(nonce, chosen, bound)

    def decode(self, data: bytes, key: str) -> bytes:
        """Returns the decrypted bytes. Raises PayloadCodecError."""
        cipher = self._ciphers.get(key)
        if cipher is None:
            known = ", ".join(self._ciphers)
            message = f"the value was encrypted with the key {key!r}; the keys here are {known}"
            raise PayloadCodecError(message)
        try:
            nonce, encrypted = data[:NONCE_BYTES], data[NONCE_BYTES:]
            chosen: bytes = cipher.decrypt(nonce, encrypted, PURPOSE + key.encode())
        except Exception as error:
            message = f"the value was changed, or encrypted with another key of the id {key!r}"
            raise PayloadCodecError(message) from error
        return _decompress(chosen[1:]) if chosen[:1] == DEFLATED else chosen[1:]


def _create_cipher(id: str, key: bytes) -> Any:
    try:
        aead = importlib.import_module("cryptography.hazmat.primitives.ciphers.aead")
    except ImportError as error:
        message = "AesGcmCodec needs the package cryptography: pip install 'windlass[encryption]'"
        raise ImportError(message) from error
    if not id or set(id) & set('"\\') or not id.isprintable():
        raise ValueError(
            f"the key id {id!r} must have printable characters other than a quote or backslash"
        )
    if len(key) not in {16, 24, 32}:
        raise ValueError(f"the key {id!r} has {len(key)} bytes; it must have 16, 24 or 32")
    return aead.AESGCM(key)


def _decompress(data: bytes) -> bytes:
    decompressor = zlib.decompressobj()
    try:
        plain = decompressor.decompress(data, MAX_BYTES)
    except zlib.error as error:
        raise PayloadCodecError(f"the value cannot be decompressed: {error}") from error
    if not decompressor.eof:
        raise PayloadCodecError("the value is incomplete, or larger than 256 MiB")
    return plain
