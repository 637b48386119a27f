"""Receiving from a connection without an allocation for each reception."""

from __future__ import annotations

import asyncio

# What asyncio receives at a time.
RECEIVED_BYTES = 256 * 1024


class Reception(asyncio.BufferedProtocol):
    """Passes what is received to `data_received`.

    A plain protocol of asyncio allocates 256 KiB for each reception, however short, and gives most
    of it back: three system calls, and ten times the cost of receiving into a buffer that is there.
    """

    def __init__(self) -> None:
        self._received = memoryview(bytearray(RECEIVED_BYTES))

    def get_buffer(self, sizehint: int) -> memoryview:
        """Returns the buffer: what it held has been copied."""
        return self._received

    def buffer_updated(self, nbytes: int) -> None:
        """Passes on what is in the buffer."""
        self.data_received(bytes(self._received[:nbytes]))

    def data_received(self, data: bytes) -> None:
        """Handles bytes that were received."""
        raise NotImplementedError
