import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { startDispatchers } from './dispatcher-fixture.ts'

/** 100,000 in `npm run test:chaos`. */
const COUNT = Number(process.env.TEST_STALE ?? 1_000)
const HANG_MS = 20_000 + COUNT * 10

test('D5: many silent workers: all are evicted and their work is released', {
  timeout: 3 * HANG_MS,
}, async () => {
  const { db, executions } = await startDispatchers({
    dispatchers: 2,
    env: { SVC_WORKERS__HEARTBEAT_TIMEOUT: '0.8', SVC_WORKERS__EVICTION_GRACE_PERIOD: '0.4' },
  })
  await db.run(sql`
    insert into workers (name, session_id, instance, connection_generation, last_seen_at)
    select 'w' || i, gen_random_uuid(), '', 1, now() - interval '1 hour'
      from generate_series(1, ${COUNT}::int) as i`)
  const count = (rows: { count: number }[]) => rows[0]?.count
  const notEvicted = async () =>
    count(await db.rows(sql`select count(*)::int as count from workers where evicted_at is null`))
  const pending = async () =>
    count(
      await db.rows(
        sql`select count(*)::int as count from workers where release_generation is not null`,
      ),
    )
  const begun = performance.now()
  await expect.poll(notEvicted, { timeout: HANG_MS, interval: 200 }).toBe(0)
  const evicted = performance.now()
  await expect.poll(pending, { timeout: HANG_MS, interval: 200 }).toBe(0)
  const seconds = (ms: number) => (ms / 1_000).toFixed(1)
  console.info(
    `D5: ${COUNT} workers evicted after ${seconds(evicted - begun)} s, released after ${seconds(performance.now() - begun)} s`,
  )
  expect(new Set(executions.requeues.map(({ worker_name }) => worker_name)).size).toBe(COUNT)
})
