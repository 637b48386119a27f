"""Tests of workflows without a server: an engine in memory with a virtual clock.

With pytest, the fixture `engine` gives each test an engine of its own:

    async def test_order(engine: Engine) -> None:
        engine.secrets["STRIPE"] = "sk_test"
        charge = engine.mock(charge_card, returns=Receipt("r1"))
        run = await engine.start(order, Order(id=1))
        assert run.paused_on == "review"
        await run.resume(Decision(approved=True))
        await engine.advance(timedelta(days=30))
        assert run.result() == Shipped("r1")
        charge.assert_called_once()

The replay, the tasks and the values are those of the worker. Sleeps, retry delays and timeouts
pass in virtual time: a test never waits for them.
"""

from windlass._local_lines import LogLine
from windlass.testing._checks import assert_deterministic, assert_survives_crashes
from windlass.testing._comparison import ReplayReport, replay
from windlass.testing._engine import Engine, Execution

__all__ = [
    "Engine",
    "Execution",
    "LogLine",
    "ReplayReport",
    "assert_deterministic",
    "assert_survives_crashes",
    "replay",
]
