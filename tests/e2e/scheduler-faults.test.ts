import pg from 'pg'
import { expect, test } from 'vitest'
import { runSchedulerFaults } from '../chaos/scheduler-faults.ts'

test('T1, T2: schedulers killed, stopped, cut off: every tick fires once or is skipped with its reason', async () => {
  const { fired, faults, kills } = await runSchedulerFaults({
    schedules: 20,
    seconds: 12,
    killEveryMs: 1_500,
    stopMs: 4_000,
    disturbDatabase: endConnections,
  })
  expect(faults.slice(0, 20)).toEqual([])
  // The number of kills depends on how fast a replica restarts.
  expect(kills).toBeGreaterThan(0)
  expect(fired).toBeGreaterThan(0)
})

/** Ends all connections, as a restart of the database does. */
async function endConnections(database: string): Promise<void> {
  const db = new pg.Client({ connectionString: database })
  await db.connect()
  await db.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  await db.end()
}
