import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { emptyDatabase, testUrl } from '@windlass/testkit/database'
import { temporaryFolder } from '@windlass/testkit/folder'
import { expect, onTestFinished, test } from 'vitest'
import { invalidateCaches, readGeneration } from '../src/cache-generation.ts'
import { openDb } from '../src/postgres/db.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { Sql, sql } from '../src/postgres/sql.ts'
import { openRedis, redisReady } from '../src/redis/redis.ts'

async function setup() {
  const url = await emptyDatabase()
  const db = openDb(url, 'public')
  onTestFinished(() => db.close())
  return { url, db }
}

test('a query of nested fragments: values are parameters, rows have the types of the wire', async () => {
  const { db } = await setup()
  const name = "'; drop table x; --"
  const columns = sql`${name}::text as name, ${'0190aaaabbbb7ccc8dddeeeeffff0000'}::uuid as id`
  const row = await db.maybe(
    sql`select ${columns}, '{"a":9007199254740993}'::json as body, 5::bigint as n, null as nothing`,
  )
  expect(row).toEqual({
    name,
    id: '0190aaaabbbb7ccc8dddeeeeffff0000',
    body: '{"a":9007199254740993}',
    n: 5,
    nothing: undefined,
  })
})

test('a transaction that fails: nothing is stored, and its connection stays usable', async () => {
  const { db } = await setup()
  await db.run(sql`create table t (n int)`)
  const failing = db.tx(async (tx) => {
    await tx.run(sql`insert into t values (1)`)
    await tx.run(sql`select 1 / 0`)
  })
  await expect(failing).rejects.toMatchObject({ code: '22012' })
  await db.tx((tx) =>
    Promise.all([tx.run(sql`insert into t values (2)`), tx.run(sql`insert into t values (3)`)]),
  )
  expect(await db.rows(sql`select n from t order by n`)).toEqual([{ n: 2 }, { n: 3 }])
})

test('a pipelined transaction fails: its connection is reused after the last answer', async () => {
  const url = await emptyDatabase()
  const db = openDb(url, 'public', { maxConnections: 1 })
  onTestFinished(() => db.close())
  for (let i = 0; i < 100; i++) {
    const columns = sql(Object.assign([`${i} as n`], { raw: [] }))
    const statement = sql`select ${columns}`
    const failing = db.tx((tx) =>
      tx.commitBehind(Promise.all([tx.rows(sql`select 1 / 0`), tx.rows(statement)])),
    )
    await expect(failing).rejects.toMatchObject({ code: '22012' })
    // The statement was not prepared in the failed transaction: the connection has to know that.
    expect(await db.rows(statement)).toEqual([{ n: i }])
  }
})

test('more distinct statements than are prepared: each runs, the server keeps a bounded number', async () => {
  const db = openDb(await emptyDatabase(), 'public', { maxConnections: 1 })
  onTestFinished(() => db.close())
  for (let i = 0; i < 600; i++) {
    const distinct = new Sql([`select ${i} as n, `, '::int as given'], [i])
    expect(await db.maybe(distinct)).toEqual({ n: i, given: i })
  }
  const readPrepared = () => db.rows(sql`select name from pg_prepared_statements`)
  // A connection that was replaced meanwhile has fewer, at least the first of these reads.
  await readPrepared()
  const prepared = await readPrepared()
  expect(prepared.length).toBeGreaterThan(0)
  expect(prepared.length).toBeLessThanOrEqual(500)
})

test('a database has more distinct statements than are prepared: those of another one are still prepared', async () => {
  const url = await emptyDatabase()
  const open = () => {
    const db = openDb(url, 'public', { maxConnections: 1 })
    onTestFinished(() => db.close())
    return db
  }
  const [first, second] = [open(), open()]
  for (let i = 0; i < 600; i++) await first.run(new Sql([`select ${i} as n`], []))
  const text = 'select 1 as prepared_by_another'
  await second.run(new Sql([text], []))
  const readPrepared = sql`select statement from pg_prepared_statements`
  expect(await second.rows(readPrepared)).toContainEqual({ statement: text })
})

test('a connection ended by the server: replaced', async () => {
  const { db } = await setup()
  const [own] = await db.rows<{ pid: number }>(sql`select pg_backend_pid() as pid`)
  const other = openDb(testUrl('TEST_POSTGRES_URL'), 'public')
  onTestFinished(() => other.close())
  await other.run(sql`select pg_terminate_backend(${own?.pid}::int)`)
  await expect
    .poll(() => db.rows(sql`select 1 as one`).catch(() => undefined))
    .toEqual([{ one: 1 }])
})

test('migrations by racing replicas: run once, in order; one that fails leaves nothing', async () => {
  const { url, db } = await setup()
  const folder = temporaryFolder('migrations')
  writeFileSync(join(folder, '0001_make_t.sql'), 'create table t (n int);')
  writeFileSync(join(folder, '0002_fill_t.sql'), 'insert into t values (1);')
  const place = pathToFileURL(`${folder}/`)
  const runs = await Promise.all([1, 2, 3].map(() => migrate(url, 'made', place)))
  expect(runs.flat().sort()).toEqual(['0001_make_t.sql', '0002_fill_t.sql'])
  expect(await db.rows(sql`select n from made.t`)).toEqual([{ n: 1 }])
  writeFileSync(join(folder, '0003_break.sql'), 'insert into t values (2); select 1 / 0;')
  await expect(migrate(url, 'made', place)).rejects.toThrow('0003_break.sql')
  expect(await db.rows(sql`select n from made.t`)).toEqual([{ n: 1 }])
})

test('a renamed migration: recorded under its first name, and never run twice', async () => {
  const { url, db } = await setup()
  const folder = temporaryFolder('migrations')
  const place = pathToFileURL(`${folder}/`)
  writeFileSync(join(folder, '0001_make_t.sql'), 'create table t (n int);')
  writeFileSync(join(folder, '0001_more_t.sql'), 'insert into t values (1);')
  const first = await migrate(url, 'made', place)
  renameSync(join(folder, '0001_more_t.sql'), join(folder, '0002_more_t.sql'))
  writeFileSync(
    join(folder, '0002_more_t.sql'),
    '-- recorded as 0001_more_t.sql\ninsert into t values (1);',
  )
  expect(await migrate(url, 'made', place)).toEqual([])
  expect(await db.rows(sql`select n from made.t`)).toEqual([{ n: 1 }])
  // An older release that migrates after a newer one finds the names that it knows.
  expect(await migrate(url, 'later', place)).toEqual(first)
  expect(await db.rows(sql`select n from later.t`)).toEqual([{ n: 1 }])
})

test('a connection lost during a migration: rejected, and no error is left unhandled', async () => {
  const { url, db } = await setup()
  const unhandled: unknown[] = []
  const record = (error: unknown) => void unhandled.push(error)
  process.on('uncaughtException', record)
  onTestFinished(() => void process.off('uncaughtException', record))
  const folder = temporaryFolder('migrations')
  writeFileSync(join(folder, '0001_wait.sql'), 'select pg_sleep(100)')
  const migrating = migrate(url, 'made', pathToFileURL(`${folder}/`))
  const rejected = expect(migrating).rejects.toThrow()
  const terminate = () =>
    db.rows(sql`
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and query = 'select pg_sleep(100)'`)
  await expect.poll(terminate).toHaveLength(1)
  await rejected
  expect(unhandled).toEqual([])
})

test('a cache generation: stays until replaced or lost, and never returns', async () => {
  const redis = openRedis(testUrl('TEST_REDIS_URL'))
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  const first = await readGeneration(redis, 'catalog')
  expect(first).toMatch(/^[0-9a-f]{24}$/)
  await invalidateCaches(redis, 'catalog')
  const second = await readGeneration(redis, 'catalog')
  await redis.del('epoch:catalog')
  const third = await readGeneration(redis, 'catalog')
  expect(new Set([first, second, third]).size).toBe(3)
})

test('no Redis: no generation is read, and an invalidation is unavailable', async () => {
  const redis = openRedis('redis://127.0.0.1:1')
  onTestFinished(() => redis.disconnect())
  expect(await readGeneration(redis, 'auth')).toBeUndefined()
  await expect(invalidateCaches(redis, 'auth')).rejects.toMatchObject({ kind: 'unavailable' })
})
