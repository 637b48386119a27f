from __future__ import annotations
from windlass import ExecutionContext, workflow
from dataclasses import dataclass, field, KW_ONLY
@dataclass(frozen=True)
class Base:
    id: int
@dataclass(frozen=True)
class Order(Base):
    """An order."""
    lines: list[Line]
    note: str = ""
    tags: list[str] = field(default_factory=list)
    _: KW_ONLY
    total: float = field(init=False)
    parent: Order | None = None
@dataclass
class Line:
    sku: str
    count: int = 1

@workflow
async def job(ctx: ExecutionContext[Order]): ...
