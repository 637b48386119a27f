import type { Schedule } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import {
  callAs,
  eventually,
  everySeconds,
  historyPage,
  makeOverdue,
  request,
  schedulerFixture,
} from './scheduler-fixture.ts'

const DAY_SECONDS = 86_400

test('T3: pause, resume, update and delete: effective from the answer on', async () => {
  const { replica, executions, db } = await schedulerFixture()
  const client = await replica()
  const second = await replica()
  const clock = async () => {
    const row = await db.maybe<{ now: Date }>(sql`select clock_timestamp() as now`)
    return row?.now.getTime() ?? 0
  }
  /** Periods in which no tick may be due, for each schedule. */
  const still = new Map<string, [from: number, to: number][]>()
  const END = Number.POSITIVE_INFINITY

  const alternateChanges = async (made: Schedule, seed: number) => {
    const ref = made.id
    const spans: [number, number][] = []
    still.set(ref, spans)
    const during = async (begin: () => Promise<unknown>, end: () => Promise<unknown>) => {
      await begin()
      const from = await clock()
      await new Promise((resolve) => setTimeout(resolve, 200 + ((seed * 37) % 900)))
      spans.push([from, await clock()])
      await end()
      await new Promise((resolve) => setTimeout(resolve, 1_100))
    }
    const other = seed % 2 ? second : client
    for (let round = 0; round < 2; round++) {
      await during(
        () => client.pause({ ref }),
        () => other.resume({ ref }),
      )
      await during(
        () => other.update({ ref, schedule_config_json: everySeconds(DAY_SECONDS) }),
        () => client.update({ ref, schedule_config_json: everySeconds(1) }),
      )
    }
    if (seed % 2) await client.delete({ ref })
    else await other.pause({ ref })
    spans.push([await clock(), END])
  }
  const made: Schedule[] = []
  for (let i = 0; i < 20; i++) made.push(await client.create(request({ config: everySeconds(1) })))
  await Promise.all(made.map(alternateChanges))
  await new Promise((resolve) => setTimeout(resolve, 2_500))

  const nominals = await nominalTimes(client, made)
  expect(nominals.size).toBeGreaterThan(20)
  for (const { execution_id, body } of executions.submitted) {
    const ref = body?.$case === 'create' ? body.value.schedule_id : ''
    const spans = still.get(ref) ?? []
    const nominal = nominals.get(execution_id) ?? 0
    const forbidden = spans.find(([from, to]) => nominal > from && nominal <= to)
    expect(forbidden, `${ref} fired at ${nominal}`).toBeUndefined()
  }
  // The nominal times of a deleted schedule's ticks are unknown. One tick may have been about to start.
  for (const { id } of made) {
    const endedAt = still.get(id)?.at(-1)?.[0] ?? END
    const late = executions.submitted.filter(
      ({ execution_id, body }) =>
        body?.$case === 'create' &&
        body.value.schedule_id === id &&
        (executions.created.get(execution_id)?.created_at ?? new Date()).getTime() > endedAt,
    )
    expect(late.length, `${id} started after its end`).toBeLessThanOrEqual(1)
  }
})

/** Nominal time of each execution of the schedules that still exist. */
async function nominalTimes({ history }: Pick<Client, 'history'>, made: Schedule[]) {
  const nominals = new Map<string, number>()
  for (const { id } of made) {
    const { entries } = await history(historyPage(id)).catch(() => ({ entries: [] }))
    for (const { execution_id, scheduled_for } of entries)
      nominals.set(execution_id, Number(scheduled_for))
  }
  return nominals
}

type Client = Awaited<ReturnType<Awaited<ReturnType<typeof schedulerFixture>>['replica']>>

test('T9, N133: 2,000 schedules of one owner due at once: those of others are not delayed', async () => {
  const { replica, executions, db } = await schedulerFixture()
  const client = await replica()
  const greedy = await client.create(request(), callAs('greedy'))
  const others: string[] = []
  for (const subject of ['ada', 'bob', 'cy'])
    others.push((await client.create(request(), callAs(subject))).id)
  await client.pause({ ref: greedy.id })
  await db.run(sql`
    insert into schedules (id, name, workflow_id, workflow_namespace, workflow_name, schedule_type,
                           schedule_config, input, input_bytes, changed_by, anchor_at, next_run_at)
    select gen_random_uuid(), 'greedy ' || i, workflow_id, workflow_namespace, workflow_name,
           schedule_type, schedule_config, input, input_bytes, changed_by, anchor_at, next_run_at
      from schedules, generate_series(1, 2000) as i where name = ${greedy.name}`)
  await db.run(sql`
    update schedules set next_run_at = now() + interval '100 ms' * (changed_by <> 'greedy')::int`)
  await eventually(() => executions.created.size).toBe(2_003)
  const places = executions.submitted.flatMap(({ body }, i) =>
    body?.$case === 'create' && others.includes(body.value.schedule_id) ? [i] : [],
  )
  expect(Math.max(...places)).toBeLessThan(1_000)
})

test.each([1, 100, 101, 1_000_000])(
  'T4: outage of %i ticks: the newest starts, the others are one entry',
  async (ticks) => {
    const { db, replica, executions } = await schedulerFixture()
    const client = await replica()
    const made = await client.create(request({ config: everySeconds(60) }))
    const begun = performance.now()
    await makeOverdue(db, made, (ticks - 1) * 60 + 10, 60)
    await eventually(() => executions.created.size).toBe(1)
    await eventually(async () => (await client.get({ ref: made.id })).run_count).toBe(1)
    expect(performance.now() - begun).toBeLessThan(60_000)

    const { entries } = await client.history(historyPage(made.id))
    const [fired, ...skipped] = entries
    expect(fired).toMatchObject({ state: 'SCHEDULED' })
    expect(skipped).toHaveLength(ticks === 1 ? 0 : 1)
    if (ticks > 2) expect(skipped[0]?.error).toMatch(/^missed: no scheduler .*every tick from/)
    const { next_run_at } = await client.get({ ref: made.id })
    expect(Number(next_run_at) - Number(fired?.scheduled_for)).toBe(60_000)
  },
)

test('T8: failing schedule: one attempt for each tick', async () => {
  const { replica, catalog, executions } = await schedulerFixture()
  const client = await replica()
  const ref = (await client.create(request({ config: everySeconds(1) }))).id
  catalog.remove('team', 'report')
  const counts = async () => {
    const { entries } = await client.history(historyPage(ref))
    const failed = entries.filter(({ state }) => state === 'FAILED').length
    return { failed, ...(await client.get({ ref })) }
  }
  await eventually(async () => (await counts()).failed).toBeGreaterThan(2)
  await client.pause({ ref })
  await eventually(async () => {
    const { failed, failure_count } = await counts()
    return failure_count - failed
  }).toBe(0)
  expect((await counts()).run_count).toBe(0)
  expect(executions.submitted).toEqual([])
})

test('T6: deletion of a version keeps the declared schedule; deletion of the last removes it', async () => {
  const { replica, catalog } = await schedulerFixture()
  const client = await replica()
  const declared = { type: 'interval', interval_seconds: 3_600 }
  const workflow = { workflow_namespace: 'team', workflow_name: 'declared' }
  const first = catalog.put('team', 'declared', declared)
  await client.reconcile(workflow)
  const { id } = await client.get({ ref: 'declared_auto' })
  catalog.put('team', 'declared', declared)
  await client.reconcile(workflow)
  catalog.restore(first)
  await client.reconcile(workflow)
  expect(await client.get({ ref: 'declared_auto' })).toMatchObject({ id, workflow_id: first.id })
  catalog.remove('team', 'declared')
  await client.reconcile(workflow)
  await expect(client.get({ ref: 'declared_auto' })).rejects.toMatchObject({ kind: 'not_found' })
})
