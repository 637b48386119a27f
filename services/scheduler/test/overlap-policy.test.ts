import type { HistoryEntry } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import {
  eventually,
  everySeconds,
  historyPage,
  request,
  schedulerFixture,
} from './scheduler-fixture.ts'

/** A one-second schedule with this policy, whose executions run until the test ends them. */
async function overlapFixture(overlap: string) {
  const system = await schedulerFixture()
  const client = await system.replica()
  const made = await client.create({ ...request({ config: everySeconds(1) }), overlap })
  await eventually(() => system.executions.created.size).toBeGreaterThanOrEqual(1)
  const entries = async (state?: string) => {
    const all = (await client.history(historyPage(made.id))).entries.toReversed()
    return state ? all.filter((entry) => entry.state === state) : all
  }
  const started = () => [...system.executions.created.keys()]
  const running = () =>
    [...system.executions.created.values()].filter(({ state }) => state !== 'COMPLETED')
  return { ...system, client, made, entries, started, running }
}

const reasons = (entries: HistoryEntry[]) => entries.map(({ error }) => error)

test('allow: executions run in parallel', async () => {
  const { running } = await overlapFixture('allow')
  await eventually(() => running().length).toBeGreaterThanOrEqual(3)
})

test('skip: execution unfinished: ticks are skipped and name it; then ticks start again', async () => {
  const { entries, started, finish } = await overlapFixture('skip')
  await eventually(() => entries('SKIPPED')).toHaveLength(2)
  expect(started()).toHaveLength(1)
  const [first] = started()
  expect(reasons(await entries('SKIPPED'))[0]).toMatch(`overlap: the execution ${first} of `)

  await finish(first as string)
  await eventually(() => started().length).toBe(2)
})

test('skip: lost execution_finished: the state is read from executions', async () => {
  const { started, finish } = await overlapFixture('skip')
  await finish(started()[0] as string, 'COMPLETED', false)
  await eventually(() => started().length).toBe(2)
})

test('queue: ticks start in order, one at a time', async () => {
  const { entries, started, running, finish } = await overlapFixture('queue')
  await eventually(() => entries('QUEUED')).toHaveLength(3)
  const nominal = (await entries()).slice(0, 4).map(({ scheduled_for }) => scheduled_for)
  for (let turn = 1; turn <= 3; turn++) {
    expect(running()).toHaveLength(1)
    await finish(started().at(-1) as string)
    await eventually(() => started().length).toBe(turn + 1)
  }
  expect(running()).toHaveLength(1)
  const ran = async () =>
    (await entries()).filter((entry) => entry.execution_id).map((entry) => entry.scheduled_for)
  await eventually(ran).toEqual(nominal)
})

test('queue: lost execution_finished: found by polling', async () => {
  const { db, entries, started, finish } = await overlapFixture('queue')
  await eventually(() => entries('QUEUED')).not.toEqual([])
  await finish(started()[0] as string, 'COMPLETED', false)
  await db.run(sql`update schedule_ticks set retry_at = now() where retry_at is not null`)
  await eventually(() => started().length).toBe(2)
})

test('queue: pause: queued ticks are skipped', async () => {
  const { client, made, entries, started, finish } = await overlapFixture('queue')
  await eventually(() => entries('QUEUED')).not.toEqual([])
  await client.pause({ ref: made.id })
  expect(await entries('QUEUED')).toEqual([])
  expect(reasons(await entries('SKIPPED'))).toContain('the schedule was paused')
  await finish(started()[0] as string)
  expect(started()).toHaveLength(1)
})

test('cancel_previous: the running execution is cancelled, then the newest tick starts', async () => {
  const { executions, entries, started, finish } = await overlapFixture('cancel_previous')
  const [first] = started()
  await eventually(() => executions.created.get(first as string)?.state).toBe('CANCELLING')
  await eventually(() => entries('SKIPPED')).not.toEqual([])
  expect(started()).toHaveLength(1)
  expect(reasons(await entries('SKIPPED'))[0]).toBe('overlap: replaced by a later tick')

  await finish(first as string, 'CANCELLED')
  await eventually(() => started().length).toBe(2)
})

test('overlap: a member of the schedule or of its configuration, and can be updated', async () => {
  const { replica } = await schedulerFixture()
  const client = await replica()
  const config = '{"type":"interval","interval_seconds":3600,"overlap":"skip"}'
  const made = await client.create(request({ config }))
  expect(made.overlap).toBe('skip')
  const changed = await client.update({ ref: made.id, overlap: 'queue' })
  expect(changed).toMatchObject({ overlap: 'queue', next_run_at: made.next_run_at })
  expect(await client.update({ ref: made.id, description: 'x' })).toMatchObject({
    overlap: 'queue',
  })
  expect((await client.create(request())).overlap).toBe('allow')
  for (const overlap of ['', 'SKIP', 'sometimes', 'queue'])
    await expect(client.create({ ...request({ config }), overlap })).rejects.toMatchObject({
      kind: 'unprocessable',
      details: { problems: [{ loc: ['body', 'overlap'] }] },
    })
})
