import { openDb } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { freshDatabase } from '@windlass/testkit/database'
import { storeExecutions } from '@windlass/testkit/stored-executions'
import { expect, onTestFinished, test, vi } from 'vitest'
import { listAfterCursor } from '../src/store/relay-cursor.ts'
import { event, get, run, setup, worker } from './executions-fixture.ts'
import { readEnds, seed } from './retention-fixture.ts'

test('a terminal event without a terminal state: refused, and the row is unchanged', async () => {
  const { client } = await setup()
  const { execution_id } = await run(client)
  const w = worker(client)
  await w.lease()
  await w.claim(execution_id)
  for (const state of ['RUNNING', 'CLAIMED', 'PAUSED'])
    for (const end of ['WORKFLOW_COMPLETED', 'WORKFLOW_FAILED', 'WORKFLOW_CANCELLED']) {
      const events = [event('TASK_STARTED'), event(end)]
      await expect(w.report(execution_id, state, { generation: 1, events })).rejects.toMatchObject({
        kind: 'unprocessable',
        details_json: expect.stringContaining('"events",1,"type"'),
      })
    }
  expect(await get(client, execution_id)).toMatchObject({ state: 'CLAIMED', last_seq: 2 })
  await w.report(execution_id, 'COMPLETED', {
    generation: 1,
    events: [event('WORKFLOW_COMPLETED')],
  })
  expect(await get(client, execution_id)).toMatchObject({ state: 'COMPLETED', last_seq: 3 })
})

test('many ends that were read before: a reader of ends reads the new ones only', async () => {
  const url = await freshDatabase('executions', new URL('../migrations/', import.meta.url))
  await storeExecutions(url, 3_000)
  const db = openDb(url, 'executions', { maxConnections: 1 })
  onTestFinished(() => db.close())
  await readEnds(db)
  const [execution_id] = await seed(db, [{}])
  const entriesRead = async () => {
    await db.run(sql`select pg_stat_force_next_flush()`)
    const rows = await db.rows<{ entries: number }>(sql`
      select idx_tup_read as entries from pg_stat_user_indexes where indexrelname = 'events_to_publish'`)
    return rows[0]?.entries ?? 0
  }
  // An end waits for all transactions that began before it, those of other tests too.
  await vi.waitFor(
    async () => {
      const before = await entriesRead()
      const found = await db.tx((tx) => listAfterCursor(tx, 'executions', 10))
      expect(found).toMatchObject([{ execution_id }])
      expect((await entriesRead()) - before).toBe(1)
    },
    { timeout: 30_000, interval: 100 },
  )
})
