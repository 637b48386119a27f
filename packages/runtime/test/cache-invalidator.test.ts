import { emptyDatabase, testUrl } from '@windlass/testkit/database'
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import {
  addMarker,
  CacheInvalidator,
  type MarkerTable,
  readGeneration,
} from '../src/cache-generation.ts'
import { Fault } from '../src/faults.ts'
import { openDb } from '../src/postgres/db.ts'
import { sql } from '../src/postgres/sql.ts'
import { openRedis, redisReady } from '../src/redis/redis.ts'

const markers: MarkerTable = {
  cache: 'catalog',
  table: sql`markers`,
  key: sql`id`,
  insert: sql`insert into markers default values`,
}

async function setup(redisUrl = `${testUrl('TEST_REDIS_URL')}/9`) {
  const db = openDb(await emptyDatabase(), 'public')
  onTestFinished(() => db.close())
  await db.run(sql`create table markers (id bigint generated always as identity primary key)`)
  await db.run(sql`create table t (n int)`)
  const redis = openRedis(redisUrl)
  onTestFinished(() => redis.disconnect())
  const log = pino({ level: 'silent' })
  const pending = () => db.rows(sql`select * from markers`)
  const generation = () => readGeneration(redis, 'catalog')
  const commits: number[] = []
  const onCommit = () => void commits.push((commits.at(-1) ?? 0) + 1)
  const caches = new CacheInvalidator({ db, redis, markers, log, onCommit })
  return { db, redis, caches, pending, generation, commits }
}

test('change: commits, replaces the generation, leaves no marker', async () => {
  const { db, redis, caches, pending, generation, commits } = await setup()
  await redisReady(redis)
  const before = await generation()
  expect(await caches.commitAndInvalidate((tx) => tx.run(sql`insert into t values (1)`))).toBe(1)
  expect(await generation()).not.toBe(before)
  expect(await pending()).toEqual([])
  expect(await db.rows(sql`select n from t`)).toEqual([{ n: 1 }])
  expect(commits).toEqual([1])
})

test('refused change, no marker: generation stays', async () => {
  const { caches, redis, generation, commits } = await setup()
  await redisReady(redis)
  const before = await generation()
  const refused = caches.commitAndInvalidate(() => Promise.reject(new Fault('not_found', 'none')))
  await expect(refused).rejects.toMatchObject({ kind: 'not_found' })
  expect(await generation()).toBe(before)
  expect(commits).toEqual([])
})

test('refused change, marker of an earlier one: generation replaced before the refusal', async () => {
  const { db, redis, caches, pending, generation } = await setup()
  await redisReady(redis)
  await db.tx((tx) => addMarker(tx, markers))
  const before = await generation()
  const refused = caches.commitAndInvalidate(() => Promise.reject(new Fault('not_found', 'none')))
  await expect(refused).rejects.toMatchObject({ kind: 'not_found' })
  expect(await generation()).not.toBe(before)
  expect(await pending()).toEqual([])
})

test('Redis unavailable: change committed, answered unavailable, marker left to the sweeper', async () => {
  const { db, caches, pending, commits } = await setup('redis://127.0.0.1:1')
  const change = caches.commitAndInvalidate((tx) => tx.run(sql`insert into t values (1)`))
  await expect(change).rejects.toMatchObject({ kind: 'unavailable' })
  expect(commits).toEqual([1])
  await caches.sweep()
  expect(await pending()).toHaveLength(1)
  expect(await db.rows(sql`select n from t`)).toEqual([{ n: 1 }])
})

test('marker that cannot be deleted: change answered, sweeper deletes the marker later', async () => {
  const { db, redis, caches, pending, generation } = await setup()
  await redisReady(redis)
  await db.run(sql`create rule keep as on delete to markers do instead select 1 / 0`)
  const before = await generation()
  expect(await caches.commitAndInvalidate((tx) => tx.run(sql`insert into t values (1)`))).toBe(1)
  expect(await generation()).not.toBe(before)
  expect(await pending()).toHaveLength(1)
  await db.run(sql`drop rule keep on markers`)
  await caches.sweep()
  expect(await pending()).toEqual([])
})
