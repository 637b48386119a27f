import type { Db } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { applyUnderLocks } from '../src/engine/pessimistic.ts'
import { limits } from './execution-samples.ts'
import { keepActive, setup, type worker } from './executions-fixture.ts'
import { claimed, leasedIds, park } from './parking-fixture.ts'

const HANG_MS = 60_000

/** Ends an execution as a replica that dies right after its commit: nothing is looked up or announced. */
const endSilently = (db: Db, w: ReturnType<typeof worker>, execution_id: string) =>
  applyUnderLocks(
    db,
    [
      {
        execution_id,
        command: {
          kind: 'checkpoint',
          report: { holder: w.writer(1), state: 'COMPLETED', events: [] },
        },
      },
    ],
    limits,
  )

test('an end whose replica died after its commit: the poll finds it', {
  timeout: HANG_MS,
}, async () => {
  const { client, db } = await setup()
  const { w, ids } = await claimed(client, 2)
  const [parent = '', child = ''] = ids
  await park(client, w, parent, { wake_on: [child] })
  await endSilently(db, w, child)
  await expect
    .poll(async () => await leasedIds(w), { timeout: HANG_MS, interval: 200 })
    .toEqual([parent])
})

/** More than one page of ends of the poll. */
const MORE_THAN_A_PAGE = 600

test('a parked execution is locked: the poll wakes those whose ends are pages behind, and it later', {
  timeout: 2 * HANG_MS,
}, async () => {
  const { client, db } = await setup()
  const { w, ids } = await claimed(client, 5)
  const [locked = '', other = '', first = '', between = '', last = ''] = ids
  await park(client, w, locked, { wake_on: [first] })
  await park(client, w, other, { wake_on: [last] })
  await db.tx(async (tx) => {
    // No poll runs before the row is locked. The lock comes last: ends behind it are not read yet.
    await tx.rows(sql`select pg_advisory_lock(hashtext(current_schema() || '.wake'))`)
    await endSilently(db, w, first)
    await endSilently(db, w, between)
    await db.run(sql`
      insert into events (execution_id, seq, event_id, type, source_id, name, value, time)
      select execution_id, seq + i, event_id || i, type, source_id, name, value, time
        from events, generate_series(1, ${MORE_THAN_A_PAGE}::int) as i
       where execution_id = ${between} and type = 'WORKFLOW_COMPLETED'`)
    await endSilently(db, w, last)
    await tx.rows(sql`select from executions where execution_id = ${locked} for update`)
    const stopActivity = keepActive(tx)
    await tx.rows(sql`select pg_advisory_unlock(hashtext(current_schema() || '.wake'))`)
    await expect
      .poll(async () => await leasedIds(w), { timeout: HANG_MS, interval: 200 })
      .toEqual([other])
      .finally(stopActivity)
  })
  await expect
    .poll(async () => await leasedIds(w), { timeout: HANG_MS, interval: 200 })
    .toEqual([locked])
})
