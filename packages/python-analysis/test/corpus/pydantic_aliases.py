from __future__ import annotations
from windlass import ExecutionContext, workflow
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
class M(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)
    first_name: str
    last_name: str = Field(validation_alias="surname")

@workflow
async def job(ctx: ExecutionContext[M]): ...
