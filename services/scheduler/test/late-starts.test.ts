import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import {
  eventually,
  everySeconds,
  historyPage,
  makeOverdue,
  request,
  schedulerFixture,
} from './scheduler-fixture.ts'

const HANG_MS = 90_000

test('T2, T3: create waits in a stopped process, schedule paused: skipped, and never started', {
  timeout: HANG_MS,
}, async () => {
  const { db, replica, executions } = await schedulerFixture()
  const client = await replica()
  const made = await client.create(request())
  executions.script.mode = 'stopped'
  await makeOverdue(db, made, 1, 3_600)
  await eventually(() => executions.waiting).not.toEqual([])
  await client.pause({ ref: made.id })
  const entries = async () => (await client.history(historyPage(made.id))).entries
  const skipped = [
    { state: 'SKIPPED', error: 'the schedule was paused before it could be started' },
  ]
  await eventually(entries).toMatchObject(skipped)
  await executions.continueStopped()
  expect([...executions.created.keys()]).toEqual([])
  expect(await entries()).toMatchObject(skipped)
})

test('T2: answer of a start lost, then the workflow is deleted: the tick is recorded as started', async () => {
  const { db, replica, executions, catalog } = await schedulerFixture()
  const client = await replica()
  const made = await client.create(request())
  executions.script.mode = 'reply_lost'
  await makeOverdue(db, made, 1, 3_600)
  await eventually(() => executions.created.size).toBe(1)
  catalog.remove('team', 'report')
  executions.script.mode = 'healthy'
  const isTried = sql`select from schedule_ticks where attempts > 1`
  await eventually(() => db.rows(isTried)).toHaveLength(1)
  // No attempt may start it any more.
  await db.run(sql`
    update schedule_ticks set submit_until = now() - interval '1 minute', retry_at = now()
     where status = 'pending'`)
  const [execution_id] = executions.created.keys()
  await eventually(async () => (await client.history(historyPage(made.id))).entries).toMatchObject([
    { state: 'SCHEDULED', execution_id },
  ])
  expect(await client.get({ ref: made.id })).toMatchObject({ run_count: 1, failure_count: 0 })
})

/** Two replicas with a one-second schedule; the create of its first queued tick waits in a stopped process. */
async function startingQueuedTick(overlap: string) {
  const system = await schedulerFixture()
  const { executions, replica, finish } = system
  const [client] = [await replica(), await replica()]
  const made = await client.create({ ...request({ config: everySeconds(1) }), overlap })
  await eventually(() => executions.created.size).toBe(1)
  const [first = ''] = executions.created.keys()
  const entries = async () => (await client.history(historyPage(made.id))).entries
  await eventually(entries).toContainEqual(expect.objectContaining({ state: 'QUEUED' }))
  executions.script.mode = 'stopped'
  await finish(first, 'CANCELLED')
  await eventually(() => executions.waiting).not.toEqual([])
  const [second = ''] = executions.submitted
    .filter(({ body }) => body?.$case === 'create')
    .map(({ execution_id }) => execution_id)
    .filter((id) => id !== first)
  const ofSecond = async () => (await entries()).find(({ execution_id }) => execution_id === second)
  return { ...system, client, made, entries, second, ofSecond }
}

test('T2: schedule paused while a queued tick is being started: recorded as started', {
  timeout: HANG_MS,
}, async () => {
  const { client, made, executions, second, ofSecond } = await startingQueuedTick('queue')
  await client.pause({ ref: made.id })
  await executions.continueStopped()
  expect(executions.created.has(second)).toBe(true)
  await eventually(ofSecond).toMatchObject({ state: 'SCHEDULED' })
})

test('T2: later tick while a queued one is being started: the queued one is not replaced', {
  timeout: HANG_MS,
}, async () => {
  const { executions, entries, second, ofSecond } = await startingQueuedTick('cancel_previous')
  const known = (await entries()).length
  await eventually(async () => (await entries()).length).toBeGreaterThan(known + 1)
  await executions.continueStopped()
  expect(executions.created.has(second)).toBe(true)
  await eventually(ofSecond).toMatchObject({ state: expect.stringMatching(/^(SCHEDULED|CANCELL)/) })
})
