import { query } from '@windlass/testkit/database'
import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { client, example } from './api.ts'

const HANG_MS = 90_000
const POLL = { timeout: HANG_MS, interval: 200 }

test('T2, T3: a start waits in a stopped replica of executions, and its tick is skipped: the replica does not start it later', {
  timeout: 3 * HANG_MS,
}, async () => {
  const system = await startSystem({ replicas: { executions: 2 }, workers: 0 })
  const api = client(system.url)
  const count = async (statement: string) => (await query(system.database, statement)).length
  const [stopped, other] = system.of('executions')
  await api.upload(await example('hello_world'))
  const startIn = (seconds: number, name: string) => {
    const run_time = new Date(Date.now() + seconds * 1_000).toISOString()
    const schedule_config = { type: 'once', run_time }
    return api.json('POST', '/schedules', { name, workflow_name: 'hello_world', schedule_config })
  }
  const created = 'select from executions.executions'
  // Opens the connections of the scheduler to both replicas.
  await startIn(1, 'first')
  await expect.poll(() => count(created), POLL).toBe(1)
  await startIn(10, 'second')
  // The scheduler has one replica to send the start to.
  await other?.end('SIGKILL')
  stopped?.signal('SIGSTOP')
  const isTried = "select from scheduler.schedule_ticks where status = 'pending' and attempts > 0"
  await expect.poll(() => count(isTried), POLL).toBe(1)
  await api.json('POST', '/schedules/second/pause')
  // No attempt is under way any more: the tick waits until none can take effect.
  const isWaiting = "select from scheduler.schedule_ticks where retry_at > now() + interval '13 s'"
  await expect.poll(() => count(isWaiting), POLL).toBe(1)
  await other?.start()
  const entries = async () => (await api.json('GET', '/schedules/second/history')).entries
  await expect.poll(entries, POLL).toMatchObject([{ state: 'SKIPPED' }])

  stopped?.signal('SIGCONT')
  // Its connection to the database is used again after the commands that waited.
  for (let i = 0; i < 30; i++) {
    expect(await count(created)).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  expect(await entries()).toMatchObject([{ state: 'SKIPPED' }])
})
