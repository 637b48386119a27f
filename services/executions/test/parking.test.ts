import type { Command } from '@windlass/proto/windlass/executions/v1/executions'
import { QueueService } from '@windlass/proto/windlass/executions/v1/executions'
import { newId } from '@windlass/runtime/ids'
import { sql } from '@windlass/runtime/postgres/sql'
import { clientOf, signedCaller } from '@windlass/testkit/service-identity'
import { expect, onTestFinished, test, vi } from 'vitest'
import { cancel, get, keepActive, run, setup, submit, worker } from './executions-fixture.ts'
import { claimed, leasedIds, park } from './parking-fixture.ts'

const HANG_MS = 60_000
const inMs = (ms: number) => new Date(Date.now() + ms)
function explainer(port = 0) {
  const client = clientOf(QueueService, [`127.0.0.1:${port}`])
  onTestFinished(() => client.close())
  return (execution_id: string) => client.explain({ execution_id })
}

test('parked until a time: not leased before, explained, queued when it has come', {
  timeout: HANG_MS,
}, async () => {
  const { client, ports } = await setup()
  const { w, ids } = await claimed(client, 2)
  const [far = '', near = ''] = ids
  const explain = explainer(ports[0])
  const year9999 = new Date('9999-12-31T23:59:59Z')
  expect(await park(client, w, far, { wake_at: year9999 })).toMatchObject({ state: 'SCHEDULED' })
  await park(client, w, near, { wake_at: inMs(3_000) })
  expect(await leasedIds(w)).toEqual([])
  const explained = await explain(far)
  expect(explained).toMatchObject({ parked: true, queue_position: 0, wakes_on: [] })
  expect(Math.abs(Number(explained.deadline_at) - Number(year9999))).toBeLessThan(60_000)
  await expect
    .poll(async () => await leasedIds(w), { timeout: HANG_MS, interval: 200 })
    .toEqual([near])
  expect(await explain(far)).toMatchObject({ parked: true })
})

test.each([
  ['fast', 300_000],
  ['slow', -300_000],
])(
  'the clock of a replica is 5 minutes %s: the clock of the database decides how long it waits',
  async (_, offMs) => {
    const { client, ports } = await setup()
    const { w, ids } = await claimed(client, 2)
    const [later = '', past = ''] = ids
    const now = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now: now + offMs })
    onTestFinished(() => void vi.useRealTimers())
    const wake_at = new Date(now + 200_000)
    await park(client, w, later, { wake_at })
    await park(client, w, past, { wake_at: new Date(now - 200_000) })
    const explained = await explainer(ports[0])(later)
    expect(explained).toMatchObject({ parked: true })
    expect(Math.abs(Number(explained.deadline_at) - Number(wake_at))).toBeLessThan(60_000)
    expect(await leasedIds(w)).toEqual([past])
  },
)

test('a time in the past, or no condition: queued at once', async () => {
  const { client } = await setup()
  const { w, ids } = await claimed(client, 2)
  const [past = '', none = ''] = ids
  await park(client, w, past, { wake_at: new Date(0) })
  await park(client, w, none, {})
  expect(await leasedIds(w)).toEqual([past, none])
})

test('parked for executions: the end of one of them queues it, at every replica', {
  timeout: HANG_MS,
}, async () => {
  const { client, ports } = await setup({ replicas: 2 })
  const { w, ids } = await claimed(client, 3)
  const [parent = '', first = '', second = ''] = ids
  await park(client, w, parent, { wake_on: [first, second] })
  expect(await explainer(ports[0])(parent)).toMatchObject({
    parked: true,
    wakes_on: [first, second].sort(),
  })
  expect(await leasedIds(w)).toEqual([])
  await w.report(second, 'FAILED')
  await expect
    .poll(async () => await leasedIds(w), { timeout: HANG_MS, interval: 50 })
    .toEqual([parent])
})

test('a nested run ends while no poll can run: its parent is woken', {
  timeout: HANG_MS,
}, async () => {
  const { client, db } = await setup()
  const { w, ids } = await claimed(client)
  const [parent = ''] = ids
  const { execution_id: child } = await run(client, { parent_id: parent, depth: 1 })
  await w.lease()
  await w.claim(child)
  await park(client, w, parent, { wake_on: [child] })
  await db.tx(async (tx) => {
    await tx.rows(sql`select pg_advisory_xact_lock(hashtext(current_schema() || '.wake'))`)
    const stop = keepActive(tx)
    await w.report(child, 'COMPLETED')
    await expect
      .poll(async () => await leasedIds(w), { timeout: HANG_MS, interval: 50 })
      .toEqual([parent])
    stop()
  })
})

test('an awaited execution has ended already: queued at once', async () => {
  const { client } = await setup()
  const { w, ids } = await claimed(client, 2)
  const [parent = '', child = ''] = ids
  await w.report(child, 'COMPLETED')
  await park(client, w, parent, { wake_at: inMs(3_600_000), wake_on: [child] })
  expect(await leasedIds(w)).toEqual([parent])
})

test('wake_on of another principal, unknown or the execution itself: refused, still claimed', async () => {
  const { client } = await setup()
  const { w, ids } = await claimed(client, 2)
  const caller = signedCaller({ subject: 'eve', issuer: 'svc' })
  const foreign = await run(client, { caller })
  const [parent = '', child = ''] = ids
  for (const id of [foreign.execution_id, newId(), parent])
    await expect(park(client, w, parent, { wake_on: [child, id] })).rejects.toMatchObject({
      kind: 'unprocessable',
      details_json: expect.stringContaining('["body","wake_on",1]'),
    })
  expect(await get(client, parent)).toMatchObject({ state: 'CLAIMED', claim_generation: 1 })
})

test('a release repeated once it is parked, and once another worker has it: refused, changes nothing', {
  timeout: HANG_MS,
}, async () => {
  const { client } = await setup()
  const { w, ids } = await claimed(client, 2)
  const [parent = '', child = ''] = ids
  const release = () => park(client, w, parent, { wake_on: [child], generation: 1 })
  const stale = { kind: 'conflict', message: expect.stringContaining('stale-claim') }
  await release()
  await expect(release()).rejects.toMatchObject(stale)
  expect(await leasedIds(w)).toEqual([])
  await w.report(child, 'COMPLETED')
  const other = worker(client)
  await expect
    .poll(async () => await leasedIds(other), { timeout: HANG_MS, interval: 50 })
    .toEqual([parent])
  await expect(release()).rejects.toMatchObject(stale)
  await other.claim(parent)
  await expect(release()).rejects.toMatchObject(stale)
  expect(await get(client, parent)).toMatchObject({ state: 'CLAIMED', claim_generation: 3 })
})

test('a parked execution: a cancel ends it, and its condition wakes nothing', async () => {
  const { client } = await setup()
  const { w, ids } = await claimed(client, 2)
  const [parent = '', child = ''] = ids
  await park(client, w, parent, { wake_on: [child] })
  expect(await cancel(client, parent)).toMatchObject({ state: 'CANCELLED' })
  await w.report(child, 'COMPLETED')
  expect(await get(client, parent)).toMatchObject({ state: 'CANCELLED' })
})

test('parked more often than max_attempts: counts neither as an attempt nor as a crash', async () => {
  const { client } = await setup()
  const { w, ids } = await claimed(client)
  const [id = ''] = ids
  for (let i = 0; i < 7; i++) {
    await park(client, w, id, { wake_at: new Date(0) })
    await w.lease()
    await w.claim(id)
  }
  await client.requeue({ worker_name: w.worker_name, connection_generation: 1, died: true })
  expect(await get(client, id)).toMatchObject({ state: 'SCHEDULED' })
})

test('queue_timeout: counts from the wake-up, not while it is parked', {
  timeout: HANG_MS,
}, async () => {
  const { client } = await setup()
  const requirement = { packages: [], affinity: {}, runner: '', queue_timeout: 2 }
  const { w, ids } = await claimed(client, 1, { requirement })
  const [id = ''] = ids
  await park(client, w, id, { wake_at: inMs(5_000) })
  await new Promise((resolve) => setTimeout(resolve, 4_000))
  expect(await get(client, id)).toMatchObject({ state: 'SCHEDULED' })
  await expect
    .poll(async () => (await get(client, id)).state, { timeout: HANG_MS, interval: 200 })
    .toBe('FAILED')
})

const ROUNDS = Number(process.env.TEST_ROUNDS ?? 50)

test(`${ROUNDS} times, an execution ends while another is parked for it: always woken`, {
  timeout: HANG_MS + ROUNDS * 200,
}, async () => {
  const { client } = await setup({ replicas: 2 })
  const { w, ids } = await claimed(client, 2 * ROUNDS)
  const parents = ids.slice(0, ROUNDS)
  const children = ids.slice(ROUNDS)
  const end = (execution_id: string): Command => ({
    execution_id,
    with_log: false,
    body: {
      $case: 'checkpoint',
      value: { writer: w.writer(), state: 'COMPLETED', events: [], output_json: undefined },
    },
  })
  await Promise.all(
    parents.flatMap((parent, i) => {
      const child = children[i] ?? ''
      const both = [
        () => park(client, w, parent, { wake_on: [child] }),
        () => submit(client, end(child)),
      ]
      return (i % 2 ? both : both.reverse()).map((act) => act())
    }),
  )
  const woken = new Set<string | undefined>()
  await expect
    .poll(
      async () => {
        for (const id of await leasedIds(w)) woken.add(id)
        return woken.size
      },
      { timeout: HANG_MS, interval: 100 },
    )
    .toBe(ROUNDS)
  expect([...woken].sort()).toEqual([...parents].sort())
})
