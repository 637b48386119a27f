"""The decoder of server-sent events."""

from __future__ import annotations

import pytest

from windlass.worker._sse import Decoder, Frame, FrameTooLarge

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


def test_frames_are_read_whatever_their_line_ends() -> None:
    assert Decoder().feed(STREAM) == FRAMES


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_frames_may_be_cut_anywhere(size: int) -> None:
    decoder = Decoder()
    chunks = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]
    assert [frame for chunk in chunks for frame in decoder.feed(chunk)] == FRAMES


def test_a_frame_cut_at_each_single_place_is_the_same_frame() -> None:
    whole = b"event: a\r\ndata: x\r\ndata: y\r\n\r\n"
    for at in range(len(whole)):
        decoder = Decoder()
        frames = decoder.feed(whole[:at]) + decoder.feed(whole[at:])
        assert frames == [Frame("a", "x\ny", "")], at


@pytest.mark.parametrize("chunk", [b"data: " + b"x" * 200, b"data: x\n" * 30])
def test_a_frame_that_has_no_end_is_given_up(chunk: bytes) -> None:
    decoder = Decoder(max_frame_bytes=100)
    with pytest.raises(FrameTooLarge):
        decoder.feed(chunk)


def test_many_small_frames_do_not_add_up_to_a_large_one() -> None:
    decoder = Decoder(max_frame_bytes=100)
    assert len(decoder.feed(b"data: x\n\n" * 1000)) == 1000
