import { emptyDatabase, testUrl } from '@windlass/testkit/database'
import { exposeMetrics } from '@windlass/testkit/exposed-metrics'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openDb } from '../src/postgres/db.ts'
import { toOutageFault } from '../src/postgres/outage.ts'
import { Sql, sql } from '../src/postgres/sql.ts'

interface Line {
  level: number
  problem?: string
  msg: string
}
const ERROR = 50
const INFO = 30
const FIVE_MINUTES_MS = 300_000

/** A database of one session, with what it logs and the metrics of this process. */
function watchedDb({ url = testUrl('TEST_POSTGRES_URL'), nowMs = Date.now } = {}) {
  const lines: Line[] = []
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) })
  const metric = exposeMetrics()
  const db = openDb(url, 'public', { log, nowMs, maxConnections: 1 })
  onTestFinished(() => db.close())
  const logged = () => lines.map(({ level, problem, msg }) => [level, problem, msg])
  return { db, logged, metric }
}

const failureOf = (statement: Promise<unknown>) =>
  statement.then(
    () => undefined,
    (error: Error) => error,
  )

/** A database of its own, and a statement of its administrator, whose session stays as it is. */
async function ownDatabase() {
  const url = new URL(await emptyDatabase())
  const admin = openDb(url.href, 'public', { maxConnections: 1 })
  onTestFinished(() => admin.close())
  const alter = async (change: string) => {
    await admin.run(new Sql([`alter database ${url.pathname.slice(1)} ${change}`], []))
    await admin.rows(sql`
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`)
  }
  return { url, alter }
}

test.each([1, 2])(
  'a database that becomes read-only, with %i hosts in its URL: is reported once, its writes are an outage, and the check passes when it ends',
  async (hosts) => {
    const { url, alter } = await ownDatabase()
    const places = Array.from({ length: hosts }, () => url.host).join()
    const { db, logged, metric } = watchedDb({ url: url.href.replace(url.host, places) })
    await db.check()
    await alter('set default_transaction_read_only = on')
    const failure = () => failureOf(db.run(sql`create table never (n int)`))
    await expect.poll(async () => `${await failure()}`).toMatch(/read-only|accepts no writes/)
    expect(toOutageFault(await failure())?.kind).toBe('unavailable')
    for (let i = 0; i < 2; i++) await expect(db.check()).rejects.toThrow(/accepts no writes/)
    expect(await metric('windlass_problems{problem="database_read_only"')).toBe(1)
    expect(logged()).toEqual([
      [ERROR, 'database_read_only', expect.stringContaining('default_transaction_read_only')],
    ])
    await alter('reset default_transaction_read_only')
    await expect.poll(() => failureOf(db.check())).toBeUndefined()
    expect(await metric('windlass_problems{problem="database_read_only"')).toBe(0)
    expect(logged()[1]).toEqual([INFO, 'database_read_only', 'the problem has ended'])
  },
)

test('N7: disk of the database is full: reported once; the check passes seconds after the last error', async () => {
  const { db, logged, metric } = watchedDb()
  const fill = () =>
    failureOf(db.run(sql`do $$ begin raise exception 'no space' using errcode = '53100'; end $$`))
  expect(toOutageFault(await fill())?.kind).toBe('unavailable')
  await fill()
  await expect(db.check()).rejects.toThrow(/disk of PostgreSQL is full/)
  // Another service of the same process, which has not noticed it.
  const other = openDb(testUrl('TEST_POSTGRES_URL'), 'public')
  onTestFinished(() => other.close())
  expect(await metric('windlass_problems{problem="database_full"')).toBe(1)
  expect(logged()).toMatchObject([[ERROR, 'database_full', {}]])
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 11_000)
  onTestFinished(() => clock.mockRestore())
  await db.check()
  expect(await metric('windlass_problems{problem="database_full"')).toBe(0)
  expect(logged()[1]).toEqual([INFO, 'database_full', 'the problem has ended'])
})

test.each([
  [FIVE_MINUTES_MS, /300 s ahead of/],
  [-FIVE_MINUTES_MS, /300 s behind/],
])(
  'a clock that is %i ms off: is reported once, and the check passes when it is right again',
  async (offsetMs, text) => {
    let offset = offsetMs
    const { db, logged, metric } = watchedDb({ nowMs: () => Date.now() + offset })
    for (let i = 0; i < 2; i++) await expect(db.check()).rejects.toThrow(text)
    const seen = await metric('windlass_clock_offset_seconds')
    expect(Math.round(seen / 30)).toBe(offsetMs / 30_000)
    expect(await metric('windlass_problems{problem="clock"')).toBe(1)
    offset = 30_000
    await db.check()
    expect(logged()).toMatchObject([
      [ERROR, 'clock', expect.stringMatching(text)],
      [INFO, 'clock', {}],
    ])
  },
)
