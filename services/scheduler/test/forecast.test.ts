import { expect, test } from 'vitest'
import { everySeconds, newName, request, schedulerFixture } from './scheduler-fixture.ts'

const cron = (cron_expression: string, timezone = 'UTC') =>
  JSON.stringify({ type: 'cron', cron_expression, timezone })

const YEAR = { hours: 8_784, limit: 10_000, all: true, ids: [], workflows: [] }
const WEEK = { hours: 168, limit: 1_000, all: true, ids: [], workflows: [] }

test('next: lists coming ticks in UTC and local time, also of a paused schedule', async () => {
  const { replica } = await schedulerFixture()
  const client = await replica()
  const made = await client.create(request({ config: cron('0 9 1 1 *', 'America/New_York') }))
  await client.pause({ ref: made.id })

  const { ticks, timezone, schedule } = await client.next({ ref: made.name, count: 2 })
  expect({ timezone, status: schedule?.status }).toEqual({
    timezone: 'America/New_York',
    status: 'paused',
  })
  expect(ticks).toHaveLength(2)
  expect(ticks[0]?.at).toEqual(made.next_run_at)
  for (const { at, local } of ticks) {
    expect(at?.toISOString()).toMatch(/-01-01T14:00:00.000Z$/)
    expect(local).toMatch(/-01-01T09:00:00-05:00$/)
  }
  await expect(client.next({ ref: newName(), count: 1 })).rejects.toMatchObject({
    kind: 'not_found',
  })
})

test('next: lists clock changes', async () => {
  const { replica } = await schedulerFixture()
  const client = await replica()
  const made = await client.create(request({ config: cron('30 2 * * *', 'America/New_York') }))
  const { clock_changes } = await client.next({ ref: made.id, count: 366 })
  const gap = clock_changes.find(({ kind }) => kind === 'gap')
  expect(gap).toMatchObject({
    timezone: 'America/New_York',
    local_times: [expect.stringMatching(/^\d{4}-03-\d\dT02:30:00$/)],
    fires_at: [gap?.at],
  })
})

test('forecast: lists ticks in order, and clashes', async () => {
  const { replica, catalog } = await schedulerFixture()
  const client = await replica()
  catalog.put('team', 'digest')
  const a = await client.create(request({ config: cron('0 6 * * *') }))
  const b = await client.create(request({ config: cron('0 6 * * *') }))
  const c = await client.create({
    ...request({ config: cron('0 6 * * *') }),
    workflow_name: 'digest',
  })
  const paused = await client.create(request({ config: cron('0 6 * * *') }))
  await client.pause({ ref: paused.id })

  const all = await client.forecast(WEEK)
  expect(all).toMatchObject({ looked_at: 3, active: 3, complete_until: undefined })
  expect(Number(all.to) - Number(all.from)).toBe(168 * 3_600_000)
  expect(all.ticks).toHaveLength(21)
  const times = all.ticks.map(({ at }) => Number(at))
  expect(times).toEqual(times.toSorted((x, y) => x - y))
  expect(all.clashes).toHaveLength(7)
  expect(all.clashes[0]).toMatchObject({ count: 3, workflows: ['team/report'] })
  expect(new Set(all.clashes[0]?.schedule_ids)).toEqual(new Set([a.id, b.id, c.id]))

  const some = await client.forecast({ ...WEEK, all: false, ids: [a.id, paused.id] })
  expect(some).toMatchObject({ looked_at: 1, active: 1, clashes: [] })
  expect(new Set(some.ticks.map(({ schedule_id }) => schedule_id))).toEqual(new Set([a.id]))
  expect(await client.forecast({ ...WEEK, all: false, ids: [] })).toMatchObject({
    ticks: [],
    active: 0,
  })
  const cut = await client.forecast({ ...WEEK, limit: 4 })
  expect(cut.ticks).toHaveLength(4)
  expect(cut.complete_until).toEqual(cut.ticks[3]?.at)
})

test('frequent schedule: cut at the limit, so that the others are listed', async () => {
  const { replica } = await schedulerFixture()
  const client = await replica()
  const frequent = await client.create(request({ config: cron('* * * * * *') }))
  await client.create(request({ config: everySeconds(86_400) }))
  const { schedules, ticks } = await client.forecast(WEEK)
  const [first] = schedules
  expect(first).toMatchObject({ schedule_id: frequent.id, listed: 200 })
  expect(first?.listed_until).toBeInstanceOf(Date)
  expect(schedules[1]).toMatchObject({ listed: 7, listed_until: undefined })
  expect(ticks).toHaveLength(207)
})

test('forecast of a year: lists the gaps and folds that affect a schedule', async () => {
  const { replica } = await schedulerFixture()
  const client = await replica()
  await client.create(request({ config: cron('30 1 * * *', 'America/New_York') }))
  await client.create(request({ config: cron('30 1 * * *', 'UTC') }))
  const { schedules } = await client.forecast(YEAR)
  const changes = schedules.flatMap(({ clock_changes }) => clock_changes)
  expect(changes).toMatchObject([
    { kind: 'fold', local_times: [expect.stringMatching(/-11-\d\dT01:30:00$/)] },
  ])
  // Fires once, at the first occurrence.
  expect(changes[0]?.fires_at).toHaveLength(1)
  expect(Number(changes[0]?.at) - Number(changes[0]?.fires_at[0])).toBe(30 * 60_000)
})
