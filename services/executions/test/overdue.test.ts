import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { get, run, setup, worker } from './executions-fixture.ts'

/** 100,000 in `npm run test:chaos`. */
const COUNT = Number(process.env.TEST_STALE ?? 1_000)
const HANG_MS = 20_000 + COUNT * 10

test('D5: many overdue leases and cancels: all are swept, and new ones in time', {
  timeout: 3 * HANG_MS,
}, async () => {
  const { client, db } = await setup({
    replicas: 2,
    env: { SVC_EXECUTIONS__CLAIM_TIMEOUT: '0.5' },
  })
  const one = await run(client)
  const w = worker(client)
  await db.run(sql`
    insert into executions (execution_id, workflow_id, workflow_namespace, workflow_name,
      workflow_version, requirement_id, state, held_by, input, deadline_at)
    select gen_random_uuid(), workflow_id, workflow_namespace, 'stale', workflow_version,
           requirement_id, case when i % 2 = 0 then 'SCHEDULED' else 'CANCELLING' end,
           'w' || i % 100, '1', clock_timestamp() - interval '1 hour'
      from executions, generate_series(1, ${COUNT}::int) as i
     where execution_id = ${one.execution_id}`)
  await w.lease({ limit: 1 })
  const begun = performance.now()
  await expect
    .poll(async () => (await get(client, one.execution_id)).claim_generation, {
      timeout: HANG_MS,
      interval: 200,
    })
    .toBe(2)
  const states = () =>
    db.rows<{ state: string; count: number }>(sql`
      select state, count(*)::int as count from executions
       where workflow_name = 'stale' and deadline_at is null and held_by is null
       group by state order by state`)
  await expect.poll(states, { timeout: HANG_MS, interval: 500 }).toEqual([
    { state: 'CANCELLED', count: COUNT / 2 },
    { state: 'SCHEDULED', count: COUNT / 2 },
  ])
  console.info(`D5: ${COUNT} swept after ${((performance.now() - begun) / 1_000).toFixed(1)} s`)
})
