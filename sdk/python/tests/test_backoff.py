"""Backoff: delays between retries."""

from __future__ import annotations

from itertools import islice

from windlass._backoff import backoff


def test_delays_double_with_jitter_up_to_the_limit() -> None:
    for _ in range(100):
        delays = list(islice(backoff(1, 60), 12))
        assert 0.5 <= delays[0] <= 1.5
        assert 1 <= delays[1] <= 3
        assert all(30 <= delay <= 60 for delay in delays[6:])


def test_first_delays_of_many_workers_differ() -> None:
    assert len({next(backoff(1, 60)) for _ in range(50)}) > 40
