import { openDb } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { testIdentity } from '@windlass/testkit/service-identity'
import { expect, test } from 'vitest'
import { startDispatchers } from './dispatcher-fixture.ts'
import { openStream } from './worker-fake.ts'

test('S5: stream opened: headers forbid buffering, a comment follows', async () => {
  const { join, rpc, name } = await startDispatchers()
  const worker = name()
  const { stream } = await join({ name: worker })

  expect(stream.status).toBe(200)
  expect(stream.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    connection: 'keep-alive',
    'x-accel-buffering': 'no',
  })
  await expect.poll(() => stream.comments).toHaveLength(1)
  await expect.poll(() => rpc.get({ name: worker })).toMatchObject({ status: 'online' })
})

test('S5: ping in each interval, the first one interval after the connect', async () => {
  const { join, name } = await startDispatchers()
  const before = performance.now()
  const { stream } = await join({ name: name() })
  await expect.poll(() => stream.frames.length).toBeGreaterThanOrEqual(3)

  expect(stream.frames[0]).toMatchObject({ id: undefined, event: 'ping', data: '{}' })
  expect((stream.frames[0]?.at_ms ?? 0) - before).toBeGreaterThanOrEqual(190)
  expect((stream.frames[2]?.at_ms ?? 0) - before).toBeGreaterThanOrEqual(590)
})

test('D8: newer stream: the older one ends within a second, also at another dispatcher', async () => {
  const { join, all, name } = await startDispatchers({ dispatchers: 2 })
  const worker = name()
  const { session_id, stream } = await join({ name: worker })

  const elsewhere = await openStream(all[1]?.streams ?? 0, worker, session_id)
  await expect.poll(() => stream.ended).toBe(true)
  expect(elsewhere.ended).toBe(false)

  const back = await openStream(all[0]?.streams ?? 0, worker, session_id)
  await expect.poll(() => elsewhere.ended).toBe(true)
  expect(back.ended).toBe(false)
})

test('newer generation without a signal: the tick closes the older stream', async () => {
  const { join, name, db } = await startDispatchers()
  const worker = name()
  const { stream } = await join({ name: worker })
  await db.run(sql`
    update workers set connection_generation = connection_generation + 1, changed_at = now()`)
  await expect.poll(() => stream.ended).toBe(true)
})

test('D8: many reconnects at once: only the newest stream remains', async () => {
  const { all, join, name, rpc } = await startDispatchers({ dispatchers: 2 })
  const worker = name()
  const { session_id, stream: first } = await join({ name: worker })
  const later = await Promise.all(
    Array.from({ length: 20 }, (_, i) => openStream(all[i % 2]?.streams ?? 0, worker, session_id)),
  )
  const open = () => [first, ...later].filter(({ ended }) => !ended)
  await expect.poll(() => open().length).toBe(1)
  expect(await rpc.get({ name: worker })).toMatchObject({ status: 'online' })
})

test('stream closed: worker offline; a superseded stream that closes late: no effect', async () => {
  const { join, streams, name, rpc } = await startDispatchers()
  const worker = name()
  const { session_id, stream } = await join({ name: worker })
  const newer = await openStream(streams, worker, session_id)
  await expect.poll(() => stream.ended).toBe(true)
  expect(await rpc.get({ name: worker })).toMatchObject({ status: 'online' })

  newer.kill()
  await expect.poll(async () => (await rpc.get({ name: worker })).status).toBe('offline')
})

test('ended session: 401 with a stream of one ping, held open for a while', async () => {
  const { register, streams, name } = await startDispatchers()
  const worker = name()
  const { session_id } = await register({ name: worker })
  await register({ name: worker })
  const before = performance.now()
  const stream = await openStream(streams, worker, session_id)

  expect(stream.status).toBe(401)
  expect(stream.headers['content-type']).toBe('text/event-stream')
  await expect.poll(() => stream.frames).toMatchObject([{ event: 'ping' }])
  await expect.poll(() => stream.ended).toBe(true)
  expect(performance.now() - before).toBeGreaterThanOrEqual(2_500)
  expect((await openStream(streams, worker, 'no id')).status).toBe(401)
})

test('connect without a session: the newest registration is used', async () => {
  const { register, streams, name } = await startDispatchers()
  const worker = name()
  await register({ name: worker })
  expect((await openStream(streams, worker)).status).toBe(200)
})

test('unusual valid names: their streams can be superseded at another dispatcher', async () => {
  const { all, join, name } = await startDispatchers({ dispatchers: 2 })
  for (const worker of [`.${name()}`, `${name()}..x`, `${name()}.`]) {
    const { session_id, stream } = await join({ name: worker })
    await openStream(all[1]?.streams ?? 0, worker, session_id)
    await expect.poll(() => stream.ended).toBe(true)
  }
})

test('database away: a connect is 503, open streams stay', async () => {
  const { join, streams, name, db, stop } = await startDispatchers()
  const { stream } = await join({ name: name() })
  const [row] = await db.rows<{ name: string }>(sql`select current_database() as name`)
  const server = new URL(process.env.TEST_POSTGRES_URL ?? '')
  const admin = openDb(server.href, 'public')
  try {
    await admin.run(sql`update pg_database set datallowconn = false where datname = ${row?.name}`)
    await admin.run(sql`
      select pg_terminate_backend(pid) from pg_stat_activity where datname = ${row?.name}`)
    const refused = await openStream(streams, name())
    expect(refused.status).toBe(503)
    expect(refused.headers['retry-after']).toBe('1')
    expect(stream.ended).toBe(false)
    await admin.run(sql`update pg_database set datallowconn = true where datname = ${row?.name}`)
    await expect.poll(() => join({ name: name() }).catch(() => undefined)).toBeDefined()
    expect(stream.ended).toBe(false)
  } finally {
    await admin.close()
  }
  await stop()
})

test('S7: graceful stop: every stream ends, names are free, the last pongs are stored', async () => {
  const { join, rpc, all, name, db } = await startDispatchers({ dispatchers: 2 })
  const names = Array.from({ length: 20 }, name)
  const joined = await Promise.all(names.map((worker) => join({ name: worker })))
  await db.run(sql`update workers set last_seen_at = now() - interval '1 minute'`)
  const [first] = names
  const session_id = joined[0]?.session_id ?? ''
  const stopping = rpc.pong({ name: first ?? '', session_id, healthy: true }).then(all[0]?.stop)
  await stopping

  expect(joined.every(({ stream }) => stream.ended)).toBe(true)
  expect(new Set(joined.map(({ stream }) => stream.reason()))).toEqual(new Set(['stopping']))
  const rows = await db.rows<{ name: string; connected: boolean; recent: boolean }>(sql`
    select name, connected, last_seen_at > now() - interval '30 seconds' as recent from workers`)
  expect(rows.every(({ connected }) => !connected)).toBe(true)
  expect(rows.filter(({ recent }) => recent).map((row) => row.name)).toEqual([first])

  const again = await openStream(all[1]?.streams ?? 0, names[1] ?? '', joined[1]?.session_id)
  expect(again.status).toBe(200)
})

test.each([
  ['no credential', ''],
  ['an invented credential', 'admin'],
  ['a gateway credential for another service', testIdentity('gateway').serviceToken('executions')],
  [
    'the credential of another service',
    `scheduler:${testIdentity('gateway').serviceToken('dispatcher').split(':')[1]}`,
  ],
])('N158: %s: no stream at the internal port', async (_, credential) => {
  const { streams } = await startDispatchers()
  const refused = await openStream(streams, 'w', undefined, { credential })
  expect([refused.status, refused.text()]).toEqual([401, expect.stringContaining('no credential')])
})

test('S7: graceful stop: streams end one after another', async () => {
  const { join, stop, name } = await startDispatchers()
  const joined = await Promise.all(Array.from({ length: 50 }, () => join({ name: name() })))
  await stop()
  const ends = joined.map(({ stream }) => stream.ended_ms)
  expect(Math.max(...ends) - Math.min(...ends)).toBeGreaterThan(300)
})
