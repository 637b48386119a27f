import { sql } from '@windlass/runtime/postgres/sql'
import { expect, onTestFinished, test } from 'vitest'
import { create, keepActive, submit, worker } from './executions-fixture.ts'
import { searchSetup } from './history-fixture.ts'

const READERS = 30
const LOCK = 4_711

/** Searches by payload that last until the returned function is called. */
async function slowSearches({ client, db, search }: Awaited<ReturnType<typeof searchSetup>>) {
  await submit(client, create())
  await db.run(sql`
    create or replace function text_at(document json, path text[]) returns text language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(4711);
      return null;
    end $$`)
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let holder: Promise<void> | undefined
  await new Promise<void>((locked) => {
    holder = db.tx(async (tx) => {
      await tx.run(sql`select pg_advisory_xact_lock(${LOCK}::bigint)`)
      const stop = keepActive(tx)
      locked()
      await released
      stop()
    })
  })
  const payload = { output: false, path: ['n'], value: '1' }
  const searches = Array.from({ length: READERS }, () => search({ payload }).catch(() => undefined))
  const end = async () => {
    release()
    await Promise.all([holder, ...searches])
  }
  onTestFinished(end)
  const countWaiting = async () => {
    const rows = await db.rows(
      sql`select from pg_locks where locktype = 'advisory' and not granted`,
    )
    return rows.length
  }
  await expect.poll(countWaiting).toBeGreaterThan(2)
}

test('R3: more slow searches than connections: executions are created, leased, claimed and ended meanwhile', async () => {
  const all = await searchSetup()
  await slowSearches(all)
  const one = worker(all.client)
  const command = create()
  await submit(all.client, command)
  await one.lease()
  await one.claim(command.execution_id)
  const ended = await one.report(command.execution_id, 'COMPLETED', { output_json: '1' })
  expect(ended).toMatchObject({ state: 'COMPLETED' })
})
