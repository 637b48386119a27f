import { expect, vi } from 'vitest'
import type { AuthSystem } from '../security/auth-system.ts'

/** Calls of every kind: nested ones, tries that fail, a rollback, and a saga that compensates. */
const SOURCE = `from windlass import ExecutionContext, saga, task, workflow


async def return_seat(seat):
    return seat


@task
async def check(seat):
    return seat


@task.with_options(retry_max_attempts=2, retry_delay=0.2, rollback=return_seat)
async def book(seat):
    await check(seat)
    raise ValueError(f"{seat} is taken")


@task
async def hold_payment(order):
    return order


@task
async def release_payment(order):
    return order


@workflow.with_options(name="booking")
async def booking(ctx: ExecutionContext):
    async with saga() as undo:
        undo.add(release_payment, await hold_payment(ctx.input))
        await book("12A")
`

/** Line of the source that raises. */
export const FAILED_LINE = SOURCE.split('\n').findIndex((line) => line.includes('raise')) + 1
const WAIT = { timeout: 60_000, interval: 100 }

/** Runs a booking that fails after its retries; returns the id of its execution. */
export async function runBooking({ upload, requestOk }: AuthSystem): Promise<string> {
  expect((await upload(SOURCE)).status).toBe(200)
  const { execution_id = '' } = await requestOk('POST /workflows/default/booking/run/async', {
    body: { order: 7 },
  })
  const path = `GET /executions/${execution_id}`
  await vi.waitFor(async () => expect((await requestOk(path)).state).toBe('FAILED'), WAIT)
  return execution_id
}
