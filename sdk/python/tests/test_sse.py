"""Decoder of server-sent events."""

from __future__ import annotations

import pytest

from windlass._sse import Decoder, Frame, FrameTooLarge

STREAM = (
    b"\xef\xbb\xbf: a comment\n"
    b'id: 1\nevent: execution_scheduled\ndata: {"a":\ndata:  1}\n\n'
    b": keep-alive\r\n\r\n"
    b"event: ping\r\ndata: \r\n\r\n"
    b"event:ping\n\n"
    b"retry: 10\n\n"
    b"data: \xc3\xa4\n\n"
    b"data\n\n"
    b"event: cut off\ndata: 1\n"
)
FRAMES = [
    Frame("execution_scheduled", '{"a":\n 1}', "1"),
    Frame("ping", "", ""),
    Frame("ping", "", ""),
    Frame("message", "ä", ""),
    Frame("message", "", ""),
]


def test_frames_with_any_line_ends_are_decoded() -> None:
    assert Decoder().feed(STREAM) == FRAMES


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_frames_in_chunks_of_any_size_are_decoded(size: int) -> None:
    decoder = Decoder()
    chunks = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]
    assert [frame for chunk in chunks for frame in decoder.feed(chunk)] == FRAMES


def test_frame_cut_at_any_offset_is_decoded() -> None:
    whole = b"event: a\r\ndata: x\r\ndata: y\r\n\r\n"
    for at in range(len(whole)):
        decoder = Decoder()
        frames = decoder.feed(whole[:at]) + decoder.feed(whole[at:])
        assert frames == [Frame("a", "x\ny", "")], at


@pytest.mark.parametrize("chunk", [b"data: " + b"x" * 200, b"data: x\n" * 30])
def test_frame_beyond_the_maximum_size_raises(chunk: bytes) -> None:
    decoder = Decoder(max_frame_bytes=100)
    with pytest.raises(FrameTooLarge):
        decoder.feed(chunk)


def test_many_small_frames_do_not_reach_the_maximum_size() -> None:
    decoder = Decoder(max_frame_bytes=100)
    assert len(decoder.feed(b"data: x\n\n" * 1000)) == 1000
