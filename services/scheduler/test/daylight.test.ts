import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { DAYLIGHT_CASES, NEW_YORK } from './daylight-cases.ts'
import {
  derivedId,
  eventually,
  historyPage,
  request,
  schedulerFixture,
} from './scheduler-fixture.ts'

const HOUR_MS = 3_600_000

const minuteOf = (date: Date) => date.toISOString().slice(5, 16)

/**
 * Two schedulers whose database has a clock that the test sets: functions in their schema shadow
 * those of the server, so every statement reads this clock.
 */
async function fakedClockFixture(catchup_seconds: number) {
  const env = { SVC_SCHEDULING__CATCHUP_WINDOW: `${catchup_seconds}` }
  const system = await schedulerFixture(env, (url) => {
    url.searchParams.set('options', '-c search_path=scheduler,pg_catalog')
    return url
  })
  const { db, replica } = system
  await db.run(sql`create table the_time as select now() as at`)
  for (const name of [sql`now`, sql`clock_timestamp`])
    await db.run(sql`
      create function scheduler.${name}() returns timestamptz stable language sql
      begin atomic select at from scheduler.the_time; end`)
  const client = await replica()
  await replica()

  const set = (at: Date) => db.run(sql`update the_time set at = ${at}`)
  const advanceTo = async (at: Date, ref: string) => {
    await set(at)
    await client.update({ ref }) // changes nothing, but wakes the tick loop
    const open = () =>
      db.rows(
        sql`select from schedules where pending or next_run_at <= ${at} and status = 'active'`,
      )
    await eventually(open).toEqual([])
  }
  const scheduled = (cron_expression: string, timezone: string) =>
    client.create(request({ config: JSON.stringify({ type: 'cron', cron_expression, timezone }) }))
  const history = async (ref: string) =>
    (await client.history(historyPage(ref))).entries
      .toReversed()
      .map(({ scheduled_for, ...entry }) => ({
        ...entry,
        at: scheduled_for && minuteOf(scheduled_for),
      }))
  return { ...system, client, set, goOnTo: advanceTo, scheduled, history }
}

test('T5: database clock passes through each clock change: exactly the ticks of the table start', async () => {
  const { client, executions, set, goOnTo, scheduled, history } = await fakedClockFixture(86_400)
  for (const { name, expression, timezone, from, to, fires } of DAYLIGHT_CASES) {
    const [begin, end] = [from.getTime(), to.getTime()]
    await set(from)
    const { id } = await scheduled(expression, timezone)
    const everyMs = end - begin > 6 * HOUR_MS ? 6 * HOUR_MS : HOUR_MS / 4
    for (let at = begin; at < end; at += everyMs) await goOnTo(new Date(at), id)
    await goOnTo(to, id)

    const ids = fires.map((at) => derivedId(id, at))
    expect(await history(id), name).toMatchObject(
      fires.map((at, i) => ({ at: minuteOf(at), state: 'SCHEDULED', execution_id: ids[i] })),
    )
    for (const one of ids) expect(executions.created.has(one)).toBe(true)
    await client.delete({ ref: id })
  }
  expect(executions.created.size).toBe(DAYLIGHT_CASES.flatMap(({ fires }) => fires).length)
})

test('T4, T5: outage during a fold: the newest tick starts once, the others are skipped', async () => {
  const { executions, set, goOnTo, scheduled, history } = await fakedClockFixture(3_600)
  await set(new Date('2026-11-01T04:45Z'))
  const { id } = await scheduled('*/30 * * * *', NEW_YORK)
  await goOnTo(new Date('2026-11-01T06:45Z'), id)
  expect(await history(id)).toMatchObject([
    {
      at: '11-01T06:00',
      state: 'SKIPPED',
      error: expect.stringContaining('from 2026-11-01T05:00:00.000Z to 2026-11-01T06:00:00.000Z'),
    },
    { at: '11-01T06:30', state: 'SCHEDULED' },
  ])
  expect([...executions.created.keys()]).toEqual([derivedId(id, new Date('2026-11-01T06:30Z'))])
})

test('T1: database clock is set back: no tick starts twice', async () => {
  const { executions, set, goOnTo, scheduled, history } = await fakedClockFixture(86_400)
  await set(new Date('2026-11-01T04:45Z'))
  const { id } = await scheduled('*/30 * * * *', NEW_YORK)
  for (const at of ['05:10', '05:40', '04:50', '05:10', '05:40', '06:10'])
    await goOnTo(new Date(`2026-11-01T${at}Z`), id)
  expect((await history(id)).map(({ at }) => at)).toEqual([
    '11-01T05:00',
    '11-01T05:30',
    '11-01T06:00',
  ])
  expect(executions.created.size).toBe(3)
})
