import { ANONYMOUS_CALLER } from '@windlass/domain/caller'
import { type Db, openDb } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { freshDatabase } from '@windlass/testkit/database'
import { expect, onTestFinished, test } from 'vitest'
import { register } from '../src/handlers/register.ts'
import * as versions from '../src/store/versions.ts'
import { startPool } from './analysis-fixture.ts'
import { sourceOf, uploadOf } from './catalog-fixture.ts'

const MANY = 10_000
const PART = 500

/** Pages of tables and indexes that the connection has read so far. */
async function pagesRead(db: Db): Promise<number> {
  await db.run(sql`select pg_stat_force_next_flush()`)
  const row = await db.maybe<{ pages: number }>(sql`
    select sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0))::float8 as pages
      from pg_statio_user_tables where schemaname = 'catalog'`)
  return row?.pages ?? Number.NaN
}

test('N125: 10,000 versions and names: uploads and reads touch no more pages', async () => {
  const url = await freshDatabase('catalog', new URL('../migrations/', import.meta.url))
  const db = openDb(url, 'catalog', { maxConnections: 1 })
  onTestFinished(() => db.close())
  const pool = startPool()
  const job = { namespace: 'team', name: 'job' }
  let serial = 0
  const upload = async () => {
    const source = Buffer.concat([sourceOf('team', 'job'), Buffer.from(`# ${serial++}\n`)])
    const declared = await pool.analyse(source)
    return db.tx((tx) =>
      register(tx, declared, { ...uploadOf(source), uploader: ANONYMOUS_CALLER }),
    )
  }
  const costOf = async (work: () => Promise<unknown>) => {
    const before = await pagesRead(db)
    await work()
    return (await pagesRead(db)) - before
  }
  const look = () => versions.find(db, job, 0, true)
  const settle = () => db.run(sql`analyze names, versions, sources`)

  for (let i = 0; i < 10; i++) await upload()
  await settle()
  await Promise.all([upload(), look()])
  const few = [await costOf(upload), await costOf(look)] as const
  expect(few[0]).toBeGreaterThan(10)

  // As many again under its own name, every other one deleted, and under names of their own.
  const like = sql`
    v.source_sha256, v.imports, v.metadata, v.requests, v.affinity, v.requirement, v.created_by,
    v.created_by_issuer`
  const one = sql`(select * from versions where name = 'job' and version = 1) as v`
  const columns = sql`
    (id, namespace, name, version, source_sha256, imports, metadata, requests, affinity, requirement,
     created_by, created_by_issuer, deleted_at)`
  await db.run(sql`update names set last_version = 100 + ${MANY}::int where name = 'job'`)
  // In parts: the database module limits the time of a statement.
  for (let from = 1; from <= MANY; from += PART) {
    const numbers = sql`generate_series(${from}::int, ${from + PART - 1}::int) as n`
    await db.run(sql`
      insert into versions ${columns}
      select gen_random_uuid(), 'team', 'job', 100 + n, ${like}, case when n % 2 = 0 then now() end
        from ${one}, ${numbers}`)
    await db.run(sql`insert into names select 'team', 'job_' || n, 1 from ${numbers}`)
    await db.run(sql`
      insert into versions ${columns}
      select gen_random_uuid(), 'team', 'job_' || n, 1, ${like}, null from ${one}, ${numbers}`)
  }
  await settle()
  await Promise.all([upload(), look()])

  // A larger index has one or two more levels.
  expect(await costOf(upload)).toBeLessThan(few[0] * 1.5)
  expect(await costOf(look)).toBeLessThan(few[1] * 1.5 + 3)
  expect(await versions.find(db, job, 0, false)).toMatchObject({ version: MANY + 102 })
})
