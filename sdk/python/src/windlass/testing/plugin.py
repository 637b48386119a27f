"""Plugin of pytest: the fixture `engine`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from windlass.testing._engine import Engine


@pytest.fixture
def engine() -> Iterator[Engine]:
    """Returns an engine of this test's own."""
    with Engine() as running:
        yield running
