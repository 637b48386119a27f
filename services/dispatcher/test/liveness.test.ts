import { randomBytes } from 'node:crypto'
import type { Event } from '@windlass/proto/windlass/events/v1/events'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { startDispatchers } from './dispatcher-fixture.ts'
import { anyRequirement } from './samples.ts'
import { openStream } from './worker-fake.ts'

/** Evicts after 1.2 s of silence. */
const fastEviction = {
  SVC_WORKERS__HEARTBEAT_TIMEOUT: '0.8',
  SVC_WORKERS__EVICTION_GRACE_PERIOD: '0.4',
}

const refused = (kind: string) => expect.objectContaining({ kind })

test('no pongs: worker evicted, stream closed, work released, event published', async () => {
  const { join, rpc, bus, name, executions } = await startDispatchers({ env: fastEviction })
  const events: Event[] = []
  const durable = `test-${randomBytes(6).toString('hex')}`
  const stop = bus.consumeDurable(
    { durable, subject: 'dispatcher.worker_evicted' },
    async (event) => {
      events.push(event)
    },
  )
  const worker = name()
  const { stream } = await join({ name: worker })
  executions.hold(worker, 3)

  await expect.poll(() => stream.ended).toBe(true)
  await expect.poll(() => executions.held.get(worker)).toEqual([])
  expect(executions.requeues[0]).toEqual({
    worker_name: worker,
    connection_generation: 1,
    died: true,
  })
  expect(await rpc.get({ name: worker })).toMatchObject({ status: 'offline' })
  const published = () => events.filter(({ key }) => key === worker).map(({ body }) => body?.value)
  await expect.poll(published).toEqual([{ worker_name: worker, connection_generation: 1 }])
  await stop()
})

test('D4: pongs arrive at another dispatcher: the worker is not evicted', async () => {
  const { join, all, name } = await startDispatchers({ env: fastEviction, dispatchers: 2 })
  const worker = name()
  const { session_id, stream } = await join({ name: worker })
  const until = performance.now() + 3_000
  await expect
    .poll(
      async () => {
        await all[1]?.rpc.pong({ name: worker, session_id, healthy: true })
        return performance.now() > until
      },
      { interval: 100 },
    )
    .toBe(true)
  expect(stream.ended).toBe(false)
})

test('worker without pongs reads a large frame: counts as alive, and is as healthy as before', async () => {
  const { join, rpc, db, name, executions, publishReady } = await startDispatchers()
  const worker = name()
  const { session_id, stream } = await join({ name: worker, max_concurrent_executions: 0 })
  const large = executions.require(anyRequirement)
  executions.queue(large, { input_json: JSON.stringify('x'.repeat(30 * 2 ** 20)) })
  stream.stall()
  publishReady(large)
  const sent = () => executions.commands.map(({ body }) => body?.$case)
  await expect.poll(sent).toEqual(['extend_lease'])
  await rpc.pong({ name: worker, session_id, healthy: false })
  const read = async () => {
    const [row] = await db.rows<{ healthy: boolean; seen_ms: number }>(sql`
      select healthy, extract(epoch from last_seen_at)::float8 * 1000 as seen_ms from workers where name = ${worker}`)
    return row ?? expect.unreachable()
  }
  await expect.poll(async () => (await read()).healthy).toBe(false)
  const { seen_ms } = await read()
  stream.resume()
  await expect.poll(async () => (await read()).seen_ms).toBeGreaterThan(seen_ms + 1)
  expect((await read()).healthy).toBe(false)
})

test('disconnected worker that does not return: evicted once', async () => {
  const { join, name, db } = await startDispatchers({ env: fastEviction, dispatchers: 2 })
  const worker = name()
  const { stream } = await join({ name: worker })
  stream.kill()
  const row = () =>
    db.maybe<{ evicted: Date; generation: number; pending?: number }>(sql`
      select evicted_at as evicted, connection_generation as generation, release_generation as pending
        from workers`)
  await expect.poll(async () => (await row())?.evicted).toBeDefined()
  await expect.poll(async () => (await row())?.pending).toBeUndefined()
  const first = await row()
  await db.run(sql`update workers set last_seen_at = now() - interval '1 day'`)
  const now = new Date()
  const ticked = () => db.rows(sql`select from replicas where seen_at > ${now}`)
  await expect.poll(ticked).toHaveLength(2)

  expect(await row()).toEqual(first)
})

test('executions away during an eviction: the work is released when it returns', async () => {
  const { join, name, db, executions } = await startDispatchers({ env: fastEviction })
  const worker = name()
  await join({ name: worker })
  executions.hold(worker, 1)
  executions.isDown = true
  const pending = () => db.rows(sql`select name from workers where release_generation = 1`)
  await expect.poll(pending).toHaveLength(1)

  executions.isDown = false
  await expect.poll(() => executions.held.get(worker)).toEqual([])
  await expect.poll(pending).toEqual([])
})

test('evicted worker: reconnects with its session', async () => {
  const { join, streams, rpc, name } = await startDispatchers({ env: fastEviction })
  const worker = name()
  const { session_id, stream } = await join({ name: worker })
  await expect.poll(() => stream.ended).toBe(true)

  expect((await openStream(streams, worker, session_id)).status).toBe(200)
  expect(await rpc.get({ name: worker })).toMatchObject({ status: 'online' })
})

test('D5: one locked row: the other workers are evicted', async () => {
  const { db } = await startDispatchers({ env: fastEviction })
  await db.run(sql`
    insert into workers (name, session_id, instance, last_seen_at)
    select 'w' || i, gen_random_uuid(), '', now() from generate_series(1, 3) as i`)
  await db.tx(async (tx) => {
    await tx.rows(sql`select name from workers where name = 'w1' for update`)
    const left = () =>
      db.rows<{ name: string }>(sql`select name from workers where evicted_at is null`)
    await expect.poll(left).toEqual([{ name: 'w1' }])
  })
})

test('D4: no dispatcher ran for a while: no eviction for that time', async () => {
  const { join, begin, stop, name, db } = await startDispatchers({ env: fastEviction })
  const worker = name()
  await join({ name: worker })
  await stop()
  await db.run(sql`update replicas set seen_at = now() - interval '1 hour'`)
  await db.run(sql`update workers set last_seen_at = now() - interval '1 hour'`)

  const began = performance.now()
  await begin()
  const evicted = () => db.rows(sql`select name from workers where evicted_at is not null`)
  await expect.poll(evicted, { interval: 20 }).toHaveLength(1)
  expect(performance.now() - began).toBeGreaterThanOrEqual(1_150)
})

test('pong: stores metrics, health and last_seen_at', async () => {
  const { join, rpc, name, db } = await startDispatchers()
  const worker = name()
  const { session_id } = await join({ name: worker })
  await db.run(sql`update workers set last_seen_at = now() - interval '1 minute'`)
  const seen = async () => (await rpc.get({ name: worker })).last_seen_at?.getTime() ?? 0
  const before = await seen()
  const metrics = { values: { cpu_percent: 12.5 } }
  await rpc.pong({ name: worker, session_id, healthy: true, metrics })
  await expect
    .poll(async () => (await rpc.get({ name: worker })).metrics)
    .toEqual({ cpu_percent: 12.5 })
  expect((await seen()) - before).toBeGreaterThan(59_000)

  const invalid = { values: { a: 1, ['k'.repeat(65)]: 1 } }
  await rpc.pong({ name: worker, session_id, healthy: false, metrics: invalid })
  await expect.poll(async () => (await rpc.get({ name: worker })).status).toBe('unhealthy')
  expect((await rpc.get({ name: worker })).metrics).toEqual({ cpu_percent: 12.5 })
})

test('older pong: last_seen_at does not decrease', async () => {
  const { register, rpc, name, db } = await startDispatchers()
  const worker = name()
  await register({ name: worker })
  await db.run(sql`update workers set last_seen_at = now() + interval '1 hour'`)
  await rpc.pong({ name: worker, session_id: '', healthy: false })
  await expect
    .poll(
      async () => (await db.maybe<{ healthy: boolean }>(sql`select healthy from workers`))?.healthy,
    )
    .toBe(false)
  const [row] = await db.rows<{ ahead: boolean }>(
    sql`select last_seen_at > now() + interval '50 minutes' as ahead from workers`,
  )
  expect(row?.ahead).toBe(true)
})

test('pong of an ended session: refused, also by a dispatcher with an outdated cache', async () => {
  const { all, register, rpc, name } = await startDispatchers({ dispatchers: 2 })
  const worker = name()
  const { session_id: old } = await register({ name: worker })
  const other = all[1]?.rpc ?? expect.unreachable()
  await other.pong({ name: worker, session_id: old, healthy: true })
  const { session_id } = await register({ name: worker })

  await expect
    .poll(() => other.pong({ name: worker, session_id: old, healthy: true }).catch((e) => e.kind))
    .toBe('unauthenticated')
  await other.pong({ name: worker, session_id, healthy: true })
  await expect(rpc.pong({ name: worker, session_id: old, healthy: true })).rejects.toThrow(
    refused('unauthenticated'),
  )
  await expect(rpc.pong({ name: name(), session_id: '', healthy: true })).rejects.toThrow(
    refused('not_found'),
  )
})

test('reconnect: the worker is healthy again', async () => {
  const { join, rpc, streams, name } = await startDispatchers()
  const worker = name()
  const { session_id } = await join({ name: worker })
  await rpc.pong({ name: worker, session_id, healthy: false })
  await expect.poll(async () => (await rpc.get({ name: worker })).status).toBe('unhealthy')

  await openStream(streams, worker, session_id)
  expect(await rpc.get({ name: worker })).toMatchObject({ status: 'online' })
})
