from __future__ import annotations
from windlass import ExecutionContext, workflow
from pydantic import BaseModel, ConfigDict, Field
class Address(BaseModel):
    model_config = ConfigDict(extra="forbid")
    street: str = Field(min_length=1, max_length=80)
    zip_code: str = Field(alias="zip", pattern=r"^\d{5}$")
class Customer(BaseModel):
    """Who buys."""
    name: str
    age: int = Field(0, ge=0, lt=150)
    home: Address
    others: dict[str, Address] = {}
    boss: "Customer | None" = None

@workflow
async def job(ctx: ExecutionContext[Customer]): ...
