import type { Schedule } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import type { Db } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { verifiedStarter } from '@windlass/testkit/service-identity'
import { expect, test } from 'vitest'
import {
  ADA,
  derivedId,
  eventually,
  everySeconds,
  historyPage,
  makeOverdue,
  onceInHours,
  request,
  schedulerFixture,
} from './scheduler-fixture.ts'

test('tick: starts the latest version with its tags and priority, and the input and the creator of the schedule', async () => {
  const { replica, catalog, executions } = await schedulerFixture()
  const client = await replica()
  const made = await client.create(
    request({ config: everySeconds(1), input_json: '{"n":9007199254740993}' }),
  )
  const latest = catalog.put('team', 'report')
  catalog.restore({ ...latest, metadata_json: '{"tags":{"team":"billing"},"priority":3}' })

  await eventually(() => executions.submitted.length).toBeGreaterThan(0)
  const [command] = executions.submitted
  expect(command?.execution_id).toBe(derivedId(made.id, made.next_run_at as Date))
  expect(command?.body).toMatchObject({
    $case: 'create',
    value: {
      workflow_id: latest.id,
      workflow_version: 2,
      input_json: '{"n":9007199254740993}',
      schedule_id: made.id,
      tags: { team: 'billing' },
      priority: 3,
    },
  })
  const { caller } = command?.body?.$case === 'create' ? command.body.value : { caller: '' }
  expect(verifiedStarter(caller, 'scheduler')).toEqual(ADA)
})

test('T9: interval: each tick is a multiple from the anchor, and all are in the history', async () => {
  const { replica, executions } = await schedulerFixture()
  const client = await replica()
  const made = await client.create(request({ config: everySeconds(1) }))
  await eventually(() => executions.created.size).toBeGreaterThanOrEqual(3)

  const { entries, total } = await client.history(historyPage(made.id))
  expect(total).toBe(entries.length)
  const first = (made.next_run_at as Date).getTime()
  for (const [i, entry] of entries.toReversed().entries()) {
    expect(entry.scheduled_for?.getTime()).toBe(first + i * 1_000)
    expect(entry.execution_id).toBe(derivedId(made.id, entry.scheduled_for as Date))
  }
  expect(await client.get({ ref: made.id })).toMatchObject({ failure_count: 0, status: 'active' })
})

test('T1: 300 due ticks and two replicas: each fires exactly once', async () => {
  const { db, replica, executions } = await schedulerFixture()
  const replicas = [await replica(), await replica()]
  const client = replicas[0] as (typeof replicas)[0]
  const made: Schedule[] = []
  for (let i = 0; i < 300; i++) made.push(await client.create(request()))
  await db.run(sql`update schedules set next_run_at = date_trunc('second', now()) - interval '5 s'`)

  await eventually(() => executions.created.size).toBe(300)
  await eventually(() =>
    db.rows(sql`select from schedule_ticks where status <> 'started'`),
  ).toEqual([])
  const asked = executions.submitted.map(({ execution_id }) => execution_id)
  expect(new Set(asked).size).toBe(asked.length)
  const rows = await db.rows<{ n: number }>(
    sql`select run_count::int as n from schedules where run_count <> 1 or tick_count <> 1`,
  )
  expect(rows).toEqual([])
})

test('once: fires once and has no next tick', async () => {
  const { replica, executions } = await schedulerFixture()
  const client = await replica()
  const made = await client.create(request({ config: onceInHours(1 / 3_600) }))

  await eventually(() => executions.created.size).toBe(1)
  await eventually(async () => await client.get({ ref: made.id })).toMatchObject({
    status: 'active',
    next_run_at: undefined,
    run_count: 1,
  })
})

test('T2, T4: misfired ticks: the newest fires, the others are recorded as skipped', async () => {
  const { db, replica, executions } = await schedulerFixture()
  const client = await replica()
  const made = await client.create(request())
  await makeOverdue(db, made, 600, 3_600)
  await eventually(() => executions.created.size).toBe(1)

  const many = await client.create(request({ config: everySeconds(60) }))
  await makeOverdue(db, many, 630, 60)
  await eventually(() => executions.created.size).toBe(2)
  // The execution is created before its tick is acknowledged.
  await eventually(async () => (await client.history(historyPage(many.id))).entries).toMatchObject([
    { state: 'SCHEDULED', execution_id: expect.stringMatching(/^[0-9a-f]{32}$/) },
    {
      state: 'SKIPPED',
      execution_id: '',
      error: expect.stringMatching(/^missed: .*every tick from/),
    },
  ])
  expect((await client.history(historyPage(many.id))).total).toBe(2)
})

test('tick older than the catch-up window: skipped with a reason', async () => {
  const { db, replica, executions } = await schedulerFixture({
    SVC_SCHEDULING__CATCHUP_WINDOW: '300',
  })
  const client = await replica()
  const made = await client.create(request())
  await makeOverdue(db, made, 301, 3_600)

  await eventually(async () => (await client.history(historyPage(made.id))).entries).toMatchObject([
    { state: 'SKIPPED', execution_id: '', error: expect.stringContaining('missed') },
  ])
  expect(executions.submitted).toEqual([])
  expect((await client.get({ ref: made.id })).next_run_at?.getTime()).toBeGreaterThan(Date.now())
})

test('T8: workflow cannot be started: recorded as failed, and the schedule continues', async () => {
  const { db, replica, catalog, executions } = await schedulerFixture()
  const client = await replica()
  const orphan = await client.create(request())
  const refused = await client.create(request({ input_json: '"too large"' }))
  catalog.remove('team', 'report')
  await makeOverdue(db, orphan, 1, 3_600)
  await eventually(
    async () => (await client.history(historyPage(orphan.id))).entries,
  ).toMatchObject([
    { state: 'FAILED', execution_id: '', error: "Workflow 'team/report' not found" },
  ])
  expect(await client.get({ ref: orphan.id })).toMatchObject({ failure_count: 1, run_count: 0 })

  catalog.put('team', 'report')
  executions.script.mode = 'refusing'
  await makeOverdue(db, refused, 1, 3_600)
  await eventually(
    async () => (await client.history(historyPage(refused.id))).entries,
  ).toMatchObject([{ state: 'FAILED', error: 'the input is too large' }])
  const { next_run_at } = await client.get({ ref: refused.id })
  expect(next_run_at?.getTime()).toBeGreaterThan(Date.now())
})

test('schedule with an invalid configuration: does not block the others', async () => {
  const { db, replica, executions } = await schedulerFixture()
  const client = await replica()
  const broken = await client.create(request())
  const sound = await client.create(request())
  await db.run(
    sql`update schedules set schedule_config = '{"type":"lunar"}' where id = ${broken.id}`,
  )
  await makeOverdue(db, broken, 2, 3_600)
  await makeOverdue(db, sound, 1, 3_600)

  await eventually(() => executions.created.size).toBe(1)
  expect((await client.history(historyPage(broken.id))).entries).toMatchObject([
    { state: 'SKIPPED', error: expect.stringContaining('cannot be read') },
  ])
})

test('T2, T3: pause until resume: nothing fires, and due ticks are recorded', async () => {
  const { db, replica, executions } = await schedulerFixture()
  const client = await replica()
  const made = await client.create(request({ config: everySeconds(60) }))
  await client.pause({ ref: made.id })
  await makeOverdue(db, made, 150, 60)
  // An active schedule that is due at the same time shows that the loop has run.
  const other = await client.create(request())
  await makeOverdue(db, other, 1, 3_600)
  await eventually(() => executions.created.size).toBe(1)

  await client.resume({ ref: made.id })
  const { entries, total } = await client.history(historyPage(made.id))
  expect(total).toBe(1)
  expect(entries).toMatchObject([
    {
      state: 'SKIPPED',
      error: expect.stringMatching(/^the schedule was paused \(every tick from/),
    },
  ])
  expect(executions.created.size).toBe(1)
})

test('deleted schedule: does not fire, and its ticks are deleted', async () => {
  const { db, replica, executions } = await schedulerFixture()
  const client = await replica()
  const made = await client.create(request())
  await makeOverdue(db, made, 1, 3_600)
  await eventually(() => executions.created.size).toBe(1)
  await client.delete({ ref: made.id })

  await eventually(() => db.rows(sql`select from schedule_ticks`)).toEqual([])
  await eventually(() => db.rows(sql`select from deleted_schedules`)).toEqual([])
})

test('tick beyond the range of a timer: neither fires nor causes a busy loop', async () => {
  const { db, replica, executions } = await schedulerFixture()
  const client = await replica()
  await client.create(request({ config: '{"type":"once","run_time":"9999-12-31T00:00:00Z"}' }))
  const other = await client.create(request({ config: onceInHours(1 / 3_600) }))

  await eventually(() => executions.created.size).toBe(1)
  expect(executions.submitted[0]?.body?.value).toMatchObject({ schedule_id: other.id })
  // What was done before is counted up to a second later; a busy loop never has two quiet seconds.
  await expect.poll(() => idleRounds(db), { timeout: 30_000 }).toBeLessThan(10)
})

/** Number of transactions in two seconds. */
async function idleRounds(db: Db): Promise<number> {
  const count = async () => {
    const row = await db.maybe<{ n: number }>(
      sql`select pg_stat_clear_snapshot(), xact_commit as n from pg_stat_database where datname = current_database()`,
    )
    return row?.n ?? 0
  }
  const before = await count()
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  return (await count()) - before
}
