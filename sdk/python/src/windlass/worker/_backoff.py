"""How long to wait before trying again."""

from __future__ import annotations

import random
from collections.abc import Iterator


def backoff(first_s: float, limit_s: float) -> Iterator[float]:
    """Delays that double up to a limit. Each is drawn from half to one and a half of its share,
    so that workers which lost their server together do not come back together; none is above
    the limit.
    """
    share = first_s
    while True:
        yield min(limit_s, share * random.uniform(0.5, 1.5))
        share = min(limit_s, share * 2)
