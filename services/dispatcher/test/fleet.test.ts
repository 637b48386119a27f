import { FleetService } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { registration, startDispatchers } from './dispatcher-fixture.ts'

const requirement = { packages: ['aiohttp>=3'], affinity: { zone: 'a' }, runner: '', cpu: 3 }

test('explain: status and all unmet requirements of each worker', async () => {
  const { register, join, db, client } = await startDispatchers()
  const fleet = client(FleetService)
  await join({ name: 'able' })
  await register({ name: 'away', max_concurrent_executions: 0 })
  await join({ name: 'ill', labels: {}, packages: [] })
  await db.run(sql`update workers set healthy = false where name = 'ill'`)
  await register({ name: 'long-gone' })
  await db.run(
    sql`update workers set last_seen_at = now() - interval '1 day' where name = 'long-gone'`,
  )
  expect(await fleet.explain({ requirement })).toEqual({
    needs: ["label 'zone' = 'a'", 'cpu 3', "package 'aiohttp>=3'"],
    verdicts: [
      { name: 'able', status: 'online', lacking: [], capacity: 2 },
      { name: 'away', status: 'offline', lacking: [], capacity: 0 },
      {
        name: 'ill',
        status: 'unhealthy',
        lacking: ["label 'zone' = 'a'", "package 'aiohttp>=3'"],
        capacity: 2,
      },
    ],
  })
  const { verdicts } = await fleet.explain({ requirement: undefined })
  expect(verdicts.every(({ lacking }) => lacking.length === 0)).toBe(true)
})

test('a worker that is restricted to namespaces: list, record and explanation name them', async () => {
  const { rpc, client, name } = await startDispatchers()
  const [bound, free] = [name(), name()]
  await rpc.register(registration({ name: bound }, { namespaces: { names: ['a', 'b'] } }))
  await rpc.register(registration({ name: free }))
  const namespaces = { names: ['a', 'b'] }
  expect(await rpc.get({ name: bound })).toMatchObject({ namespaces })
  expect(await rpc.get({ name: free })).not.toHaveProperty('namespaces.names')
  const { workers } = await rpc.list({ status: '' })
  expect(workers.find((one) => one.name === bound)).toMatchObject({ namespaces })
  const { verdicts } = await client(FleetService).explain({ requirement: undefined })
  expect(verdicts.find((one) => one.name === bound)).toMatchObject({ namespaces })
  expect(verdicts.find((one) => one.name === free)?.namespaces).toBeUndefined()
})

test('pongs of many workers in one call: each is refused independently', async () => {
  const { register, client, rpc, name } = await startDispatchers()
  const fleet = client(FleetService)
  const [known, other] = [name(), name()]
  const { session_id } = await register({ name: known })
  await register({ name: other })
  const pong = (worker: string, session = '') => ({
    name: worker,
    session_id: session,
    healthy: true,
    metrics: { values: { load: 0.5 } },
  })
  const { refusals } = await fleet.pongs({
    pongs: [pong('unknown'), pong(known, session_id), pong(other, session_id), pong(other)],
  })
  expect(refusals).toEqual([
    { index: 0, kind: 'not_found', message: "Worker 'unknown' not found" },
    { index: 2, kind: 'unauthenticated', message: 'This session of the worker has ended' },
  ])
  for (const worker of [known, other])
    await expect.poll(async () => (await rpc.get({ name: worker })).metrics).toEqual({ load: 0.5 })
  expect(await fleet.pongs({ pongs: [] })).toEqual({ refusals: [] })
})
