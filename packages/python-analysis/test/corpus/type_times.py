from __future__ import annotations
from windlass import ExecutionContext, workflow
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from uuid import UUID
@workflow
async def job(ctx: ExecutionContext[tuple[datetime, date, time, timedelta, UUID, Decimal, Path]]): ...
