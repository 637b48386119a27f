import { setTimeout as pause } from 'node:timers/promises'
import { migrateAll } from '@windlass/testkit/database'
import { programOf, ROOT, SERVICES } from '@windlass/testkit/system-processes'
import { afterAll, expect, test } from 'vitest'
import { client } from '../e2e/api.ts'
import { startLoad } from './load.ts'
import { EARLIER, replicatedSystem } from './replicated-system.ts'
import { countKinds, type Row, rowOf, toMarkdown } from './report.ts'

const RATE = Number(process.env.TEST_CLUSTER_RATE ?? 20)
const STREAMS = Number(process.env.TEST_CLUSTER_STREAMS ?? 20)
const WORKERS = Number(process.env.TEST_CLUSTER_WORKERS ?? 8)
/** Load before a fault, and after the system has recovered from it. */
const STEADY_MS = Number(process.env.TEST_CLUSTER_STEADY_SECONDS ?? 5) * 1_000
const HANG_MS = 120_000

const replicated = replicatedSystem(WORKERS)
const rows: Row[] = []
const kinds: string[] = []
afterAll(() => {
  console.info(`\n${RATE} runs/s, ${STREAMS} event streams, ${WORKERS} workers\n`)
  console.info(`${toMarkdown(rows)}\n\nAttempts that were repeated:\n${kinds.join('\n')}`)
})

/** Runs `breaking` under load. Every acknowledged run must end with its output. Returns the line of the table, and what was logged of work that was sent again. */
async function underLoad(name: string, breaking: () => Promise<unknown>) {
  const { system, tasks, released, evictions } = replicated()
  const prefix = name.replaceAll(/\W/g, '-')
  const before = evictions()
  const load = startLoad({ url: system.url, prefix, rate: RATE, streams: STREAMS })
  await pause(STEADY_MS)
  const from = performance.now()
  await breaking()
  const until = performance.now()
  await pause(STEADY_MS)
  const seen = await load.stop()

  const api = client(system.url)
  for (const [id, run] of seen.acknowledged) {
    await expect
      .poll(() => api.status(id), { timeout: HANG_MS })
      .toMatchObject({ state: 'COMPLETED', output: run })
  }
  const { count, repeated } = tasks.read(`${prefix}-`)
  expect(count).toBeGreaterThanOrEqual(seen.acknowledged.size)
  const repeatedTasks = repeated.length
  const row = rowOf(seen, { name, from, until, evictions: evictions() - before, repeatedTasks })
  rows.push(row)
  const logged = released.splice(0)
  kinds.push(`${name}: ${countKinds(seen.repeated)}`, ...logged)
  expect(seen.errors).toEqual([])
  expect(seen.acknowledged.size).toBe(seen.sent)
  expect(seen.streams).toBeGreaterThan(0)
  return { row, logged }
}

const answersSoon = () =>
  expect
    .poll(() => fetch(`${replicated().system.url}/ready`).then(({ status }) => status), {
      timeout: HANG_MS,
    })
    .toBe(200)

test('every replica restarted in turn: no error at a client, no eviction, no task run twice', async () => {
  const name = EARLIER === undefined ? 'rolling restart' : 'rolling upgrade'
  const { row, logged } = await underLoad(name, async () => {
    const { system } = replicated()
    if (EARLIER !== undefined) await migrateAll(system.database, ROOT)
    for (const n of [0, 1])
      for (const service of SERVICES)
        for (const replica of system.of(service).slice(n, n + 1)) {
          replica.program.args = [programOf(service)]
          await replica.restart('SIGTERM')
        }
  })
  expect(row.evictions).toBe(0)
  // Gateways of an earlier release do not tell what they have passed on.
  if (!EARLIER || !logged.some((line) => line.includes('gateway hangs')))
    expect(row['tasks run twice']).toBe(0)
})

test('N4: Redis killed, back with its data: no error at a client', async () => {
  await underLoad('Redis restart with data', async () => {
    await replicated().redis.kill()
    await pause(2_000)
    await replicated().redis.start()
  })
})

test('N4: Redis killed, back without data: no error at a client', async () => {
  await underLoad('Redis restart without data', async () => {
    await replicated().redis.kill()
    await replicated().redis.wipe()
    await replicated().redis.start()
  })
})

test('NATS: the server that leads the stream killed: no error at a client, and it catches up', async () => {
  const { nats } = replicated()
  await expect.poll(() => nats.isComplete(), { timeout: HANG_MS }).toBe(true)
  await underLoad('NATS server killed', async () => {
    const leader = (await nats.leader()) as number
    await nats.kill(leader)
    await pause(3_000)
    await nats.start(leader)
    await expect.poll(() => nats.isComplete(), { timeout: HANG_MS }).toBe(true)
  })
})

test('NATS: a server killed and its store wiped: no error at a client, and its copy is made again', async () => {
  const { nats } = replicated()
  await underLoad('NATS server wiped', async () => {
    const leader = (await nats.leader()) as number
    await nats.kill(leader)
    await nats.wipe(leader)
    await pause(3_000)
    await nats.start(leader)
    await expect.poll(() => nats.isComplete(), { timeout: HANG_MS }).toBe(true)
  })
})

test.skipIf(EARLIER)(
  'N5: PostgreSQL primary killed, standby promoted: no error at a client, no acknowledged run lost',
  async () => {
    await underLoad('PostgreSQL failover', async () => {
      await replicated().postgres.kill()
      await pause(1_000)
      await replicated().postgres.promote()
      await answersSoon()
    })
  },
)
