"""Codec of payloads that an option `--codec MODULE:FUNCTION` names."""

from __future__ import annotations

import importlib

from windlass._payloads import Payloads
from windlass.codec import PayloadCodec


def create_codec(reference: str) -> PayloadCodec:
    """Imports `module:function` and calls it. Raises ValueError, which names the reference."""
    module_name, _, name = reference.partition(":")
    try:
        codec = getattr(importlib.import_module(module_name), name)()
        Payloads(codec)
    except Exception as error:
        raise ValueError(f"--codec {reference}: {error!r}") from error
    if not isinstance(codec, PayloadCodec):
        raise ValueError(f"--codec {reference}: it returns no PayloadCodec")
    return codec
