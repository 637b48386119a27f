import type { Db } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { run, setup, worker } from './executions-fixture.ts'

const ENDED = 1_000
/** Executions of one lease call. */
const BATCH = 100
const LEASES = 20

/** Entries that scans of an index have returned, and rows that were inserted, as far as the server has counted them. */
const counters = (db: Db) =>
  db.maybe<{ entries: number; inserted: number }>(sql`
    select idx_tup_read as entries, n_tup_ins as inserted
      from pg_stat_user_indexes i join pg_stat_user_tables t using (relid)
     where i.indexrelname = 'executions_held'`)

/** Waits until the server has counted the rows of so many executions; returns the entries that were read for them. */
async function entriesRead(db: Db, executions: number): Promise<number> {
  await expect.poll(async () => (await counters(db))?.inserted).toBe(executions)
  return (await counters(db))?.entries ?? 0
}

test('a worker whose executions have ended: what it holds is counted without their entries in the index', async () => {
  const { client, db } = await setup()
  const { lease, claim, report } = worker(client)
  const finishOne = async (id: string) => {
    await claim(id)
    await report(id, 'COMPLETED', { generation: 1 })
  }
  const finish = async (count: number) => {
    await Promise.all(Array.from({ length: count }, () => run(client)))
    const { leases } = await lease({ limit: count, capacity: count })
    await Promise.all(leases.map(({ execution }) => finishOne(execution?.execution_id ?? '')))
    expect(leases).toHaveLength(count)
  }
  for (let i = 0; i < ENDED; i += BATCH) await finish(BATCH)
  const before = await entriesRead(db, ENDED)
  for (let i = 0; i < LEASES; i++) await finish(1)
  expect((await entriesRead(db, ENDED + LEASES)) - before).toBeLessThan(5 * ENDED)
})
