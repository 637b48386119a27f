"""Frames between the worker and its children."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from windlass.worker._frames import (
    ChildFrame,
    FrameDecoder,
    FrameKind,
    InvalidFrame,
    encode_frame,
)

FRAMES = [
    ChildFrame(FrameKind.ENTRY, 1, b"first"),
    ChildFrame(FrameKind.END, 1, b""),
    ChildFrame(FrameKind.ENTRY, 2**32 - 1, bytes(range(256)) * 3),
    ChildFrame(FrameKind.WAITING, 7, b""),
]
BYTES = b"".join(encode_frame(frame.kind, frame.run, frame.payload) for frame in FRAMES)


def test_bytes_cut_anywhere_give_the_same_frames() -> None:
    random = Random(5)
    for _ in range(200):
        decoder = FrameDecoder(1000)
        cuts = sorted(random.sample(range(len(BYTES) + 1), random.randrange(12)))
        ends = [0, *cuts, len(BYTES)]
        chunks = [BYTES[start:end] for start, end in pairwise(ends)]
        assert [frame for chunk in chunks for frame in decoder.feed(chunk)] == FRAMES


def test_single_bytes_give_the_same_frames() -> None:
    decoder = FrameDecoder(1000)
    chunks = [BYTES[n : n + 1] for n in range(len(BYTES))]
    assert [frame for chunk in chunks for frame in decoder.feed(chunk)] == FRAMES


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (encode_frame(FrameKind.ENTRY, 1, b"x" * 11), "a frame of 11 bytes"),
        (b"\0\0\0\0\x63\0\0\0\0", "unknown kind 99"),
    ],
)
def test_frame_that_is_too_long_or_unknown_is_refused_by_its_header(
    head: bytes, message: str
) -> None:
    decoder = FrameDecoder(10)
    good = encode_frame(FrameKind.END, 3)
    received: list[ChildFrame] = []
    with pytest.raises(InvalidFrame, match=message):
        for chunk in (good + head[:4], head[4:9]):
            received += decoder.feed(chunk)
    assert received == [ChildFrame(FrameKind.END, 3, b"")]
