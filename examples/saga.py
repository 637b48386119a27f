"""A trip of several bookings: if one fails, the earlier ones are cancelled, the last one first.

The input is a list of bookings; one with the name `sold out` cannot be made.
"""

from windlass import ExecutionContext, current, saga, task, workflow


class SoldOutError(Exception):
    pass


@task
async def book(name: str) -> str:
    if name == "sold out":
        raise SoldOutError(name)
    # The key is the same in every attempt, so the booking system books only once.
    return f"{name}-{current().idempotency_key[-6:]}"


@task
async def cancel_booking(booking: str) -> str:
    return f"cancelled {booking}"


@workflow
async def book_trip(ctx: ExecutionContext[list[str]]) -> list[str]:
    bookings: list[str] = []
    async with saga() as undo:
        for name in ctx.input:
            booking = await book(name)
            undo.add(cancel_booking, booking)
            bookings.append(booking)
    return bookings
