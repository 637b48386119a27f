"""Exponential backoff with jitter."""

from __future__ import annotations

import random
from collections.abc import Iterator


def backoff(first_s: float, limit_s: float) -> Iterator[float]:
    """Yields delays in seconds that double from `first_s` up to `limit_s`.

    Each delay is drawn from 0.5 to 1.5 times its nominal value, so that workers that lost their
    server at the same time do not reconnect at the same time. No delay exceeds the limit.
    """
    share = first_s
    while True:
        yield min(limit_s, share * random.uniform(0.5, 1.5))
        share = min(limit_s, share * 2)
