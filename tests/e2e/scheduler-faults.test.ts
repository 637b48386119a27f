import pg from 'pg'
import { expect, test } from 'vitest'
import { runSchedulerFaults } from '../chaos/scheduler-faults.ts'

test('while schedulers are killed, stopped and cut off, every tick fires once or is skipped with its reason (T1, T2)', async () => {
  const { fired, faults, kills } = await runSchedulerFaults({
    schedules: 20,
    seconds: 12,
    killEveryMs: 1_500,
    stopMs: 4_000,
    shake: endConnections,
  })
  expect(faults.slice(0, 20)).toEqual([])
  // How many there are depends on how fast a replica comes up again.
  expect(kills).toBeGreaterThan(0)
  expect(fired).toBeGreaterThan(0)
})

/** What a restart of the database does to its clients. */
async function endConnections(database: string): Promise<void> {
  const db = new pg.Client({ connectionString: database })
  await db.connect()
  await db.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  await db.end()
}
