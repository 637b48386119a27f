import { FleetService } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { registration, startDispatchers } from './dispatcher-fixture.ts'
import { type FakeStream, openStream } from './worker-fake.ts'

/** Far above the early eviction, far below the eviction by silence in these tests (120 s). */
const HANG = { timeout: 60_000 }

type Dispatchers = Awaited<ReturnType<typeof startDispatchers>>

/** Joins a worker; `close` ends its stream like a process that dies, and `report` reports that. */
async function join({ rpc, client, streams }: Dispatchers, name: string, reconnect_grace?: number) {
  const { session_id } = await rpc.register(registration({ name }, { reconnect_grace }))
  const fleet = client(FleetService)
  const stream = await openStream(streams, name, session_id)
  const generationOf = ({ headers }: FakeStream) =>
    Number(headers['x-windlass-connection-generation'])
  const report = (closed = stream) =>
    fleet.reportPresence({
      closed: [{ name, connection_generation: generationOf(closed), age_ms: 0 }],
      active: [],
    })
  const active = () =>
    fleet.reportPresence({ closed: [], active: [{ name, session_id, age_ms: 0 }] })
  return { name, session_id, stream, report, active }
}

const evictedIn = async ({ db }: Dispatchers) => {
  const rows = await db.rows<{ name: string }>(
    sql`select name from workers where evicted_at is not null order by name`,
  )
  return rows.map(({ name }) => name)
}

/** Moves the recorded times into the past, in place of waiting. */
const passTime = ({ db }: Dispatchers, seconds: number) =>
  db.run(sql`
    update workers set quiet_since = quiet_since - make_interval(secs => ${seconds}),
                       last_seen_at = last_seen_at - make_interval(secs => ${seconds}),
                       disconnected_at = disconnected_at - make_interval(secs => ${seconds})`)

/** Resolves when each dispatcher has ticked twice. */
async function ticks({ db }: Dispatchers): Promise<void> {
  for (let i = 0; i < 2; i++) {
    const since = new Date()
    const seen = () => db.rows(sql`select from replicas where seen_at > ${since}`)
    await expect.poll(seen, HANG).not.toEqual([])
  }
}

test('a worker that promised to reconnect closes its stream and stays away: evicted early', async () => {
  const service = await startDispatchers()
  const worker = await join(service, 'dead', 5)
  service.executions.hold('dead', 2)
  worker.stream.kill()
  await worker.report()
  await expect.poll(() => evictedIn(service), HANG).toEqual(['dead'])
  await expect.poll(() => service.executions.held.get('dead'), HANG).toEqual([])
  expect(service.executions.requeues[0]).toMatchObject({ connection_generation: 1, died: true })
})

test('no promise, no report, or a longer promise: not evicted early', async () => {
  const service = await startDispatchers()
  const silent = await join(service, 'promised-nothing')
  const unreported = await join(service, 'unreported', 5)
  const patient = await join(service, 'patient', 60)
  for (const { stream } of [silent, unreported, patient]) stream.kill()
  await silent.report()
  await patient.report()
  await expect.poll(async () => (await service.rpc.get({ name: 'patient' })).status).toBe('offline')
  // Apart from each other, so that they do not count as departed together.
  await service.db.run(sql`update workers set disconnected_at = null`)
  await passTime(service, 30)
  await ticks(service)
  expect(await evictedIn(service)).toEqual([])
})

test('a worker that reconnects: not evicted, even if the report of its old stream is late', async () => {
  const service = await startDispatchers()
  const worker = await join(service, 'back', 5)
  worker.stream.kill()
  await worker.report()
  const again = await openStream(service.streams, 'back', worker.session_id)
  await worker.report()
  await passTime(service, 30)
  await ticks(service)
  expect(await evictedIn(service)).toEqual([])
  expect(again.ended).toBe(false)
})

test.each(['request', 'pong'])(
  'a worker without a stream that sends a %s: evicted only after another quiet time',
  async (sign) => {
    const service = await startDispatchers()
    const { name, session_id, ...worker } = await join(service, 'busy', 60)
    worker.stream.kill()
    await worker.report()
    await passTime(service, 40)
    if (sign === 'request') await worker.active()
    else await service.rpc.pong({ name, session_id, healthy: true })
    await ticks(service)
    await passTime(service, 40)
    await ticks(service)
    expect(await evictedIn(service)).toEqual([])
    await passTime(service, 40)
    await expect.poll(() => evictedIn(service), HANG).toEqual(['busy'])
  },
)

test('more than a quarter of the fleet leaves together: none is evicted early', async () => {
  const service = await startDispatchers()
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const workers = await Promise.all(names.map((name) => join(service, name, 5)))
  const [a, b] = workers
  for (const worker of [a, b]) {
    worker?.stream.kill()
    await worker?.report()
  }
  await passTime(service, 30)
  await ticks(service)
  expect(await evictedIn(service)).toEqual([])
  const left = await service.db.rows(sql`select from workers where closed_generation is not null`)
  expect(left).toEqual([])
})

test('D4: no dispatcher ran while a closed worker was quiet: no early eviction for that time', async () => {
  const service = await startDispatchers()
  const worker = await join(service, 'w', 5)
  worker.stream.kill()
  await worker.report()
  await service.stop()
  await service.db.run(sql`update replicas set seen_at = now() - interval '1 hour'`)
  await passTime(service, 3_600)
  await service.begin()
  await ticks(service)
  expect(await evictedIn(service)).toEqual([])
})

test('invalid reconnect_grace: refused', async () => {
  const { rpc } = await startDispatchers()
  for (const reconnect_grace of [0, -1, Number.NaN, 3_601])
    await expect(rpc.register(registration({ name: 'w' }, { reconnect_grace }))).rejects.toThrow(
      expect.objectContaining({ kind: 'unprocessable' }),
    )
})
