from __future__ import annotations
from windlass import ExecutionContext, workflow
from enum import Enum, IntEnum, StrEnum, auto
class Colour(Enum):
    """Of paint."""
    RED = "red"
    BLUE = "blue"
class Level(IntEnum):
    LOW = auto()
    HIGH = 10
    TOP = auto()
class Word(StrEnum):
    YES = auto()

@workflow
async def job(ctx: ExecutionContext[tuple[Colour, Level, Word, Colour]]): ...
