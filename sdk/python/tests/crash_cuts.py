"""Number of places at which crash tests of this session have cut executions."""

from __future__ import annotations

_cuts: list[int] = []


def count_cuts(cuts: int) -> None:
    """Adds the cuts of one crash test."""
    _cuts.append(cuts)


def total_cuts() -> int:
    """Returns the cuts of all crash tests so far."""
    return sum(_cuts)
