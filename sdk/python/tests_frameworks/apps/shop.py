"""The workflow that each application runs."""

import os
from dataclasses import dataclass

from windlass import ExecutionContext, task, workflow


@dataclass
class Order:
    id: int
    by: str


@dataclass
class Receipt:
    order_id: int
    by: str


@task
async def charge(order: Order) -> Receipt:
    return Receipt(order.id, order.by)


@workflow
async def pay(ctx: ExecutionContext[Order]) -> Receipt:
    return await charge(ctx.input)


def described(receipt: Receipt) -> str:
    """Returns text that only a decoded receipt has, and the process that asked for it."""
    return f"{type(receipt).__name__} {receipt.order_id} of {receipt.by} in {os.getpid()}"
