"""Receiving into one buffer: what arrives, and that it stays as it was."""

from __future__ import annotations

import asyncio
import socket

from windlass.worker._reception import RECEIVED_BYTES, Reception


class Collector(Reception):
    """Keeps what is received."""

    def __init__(self) -> None:
        super().__init__()
        self.chunks: list[bytes] = []
        self.ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.chunks.append(data)

    def eof_received(self) -> None:
        self.ended.set()


async def received(data: bytes) -> list[bytes]:
    """Sends data through a pair of sockets."""
    own, other = socket.socketpair()
    own.setblocking(False)
    loop = asyncio.get_running_loop()
    transport, collector = await loop.create_unix_connection(Collector, sock=own)

    def send() -> None:
        with other:
            other.sendall(data)

    await asyncio.to_thread(send)
    await collector.ended.wait()
    transport.close()
    return collector.chunks


async def test_more_than_the_buffer_arrives_in_order() -> None:
    data = b"".join(number.to_bytes(4, "big") for number in range(RECEIVED_BYTES))
    chunks = await received(data)
    assert len(chunks) > 1
    assert b"".join(chunks) == data


async def test_chunks_do_not_share_the_buffer() -> None:
    collector = Collector()
    for text in (b"first", b"then"):
        collector.get_buffer(-1)[: len(text)] = text
        collector.buffer_updated(len(text))
    assert collector.chunks == [b"first", b"then"]
