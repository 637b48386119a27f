import net from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { ask } from '@windlass/testkit/database'
import { startLocal } from '@windlass/testkit/infra-local'
import { startNats } from '@windlass/testkit/private-nats'
import { type System, startSystem } from '@windlass/testkit/system'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Arena, arena, HANG_MS, ok, rounds, TWO_OF_EACH } from './arena.ts'
import { diligent, insisting, obtained } from './nemesis.ts'

/** PostgreSQL, NATS and Redis of this file alone: it breaks them. */

const PATIENT = { timeout: 300_000 }
let system: System
let nats: Awaited<ReturnType<typeof startNats>>
let redisUrl: string
const undo: (() => unknown)[] = []

beforeAll(async () => {
  const infra = await startLocal()
  undo.unshift(() => infra.stop())
  redisUrl = infra.urls.TEST_REDIS_URL
  nats = await startNats((one) => undo.unshift(one))
  system = await startSystem({
    replicas: TWO_OF_EACH,
    workers: 0,
    infra: { ...infra.urls, TEST_NATS_URL: nats.url },
    // Longer than PostgreSQL takes to recover: who is evicted meanwhile is another test's.
    env: { SVC_WORKERS__HEARTBEAT_TIMEOUT: '20', SVC_EXECUTIONS__CLAIM_TIMEOUT: '2' },
    defer: (one) => undo.unshift(one),
  })
  // Throw-away databases forget what they said at a crash; this one is asked to keep its word.
  const name = new URL(system.database).pathname.slice(1)
  await ask(system.database, `alter database ${name} set synchronous_commit = on`)
  await ask(
    system.database,
    'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
  )
}, 180_000)

afterAll(async () => {
  for (const one of undo) await one()
})

/** A backend that is killed makes the server stop all others at once and recover from its log, as after an immediate stop. */
async function crashPostgres(): Promise<void> {
  const [victim] = await ask<{ pid: number }>(
    system.database,
    `select pid from pg_stat_activity
      where datname = current_database() and application_name like 'windlass-%' limit 1`,
  )
  process.kill(victim?.pid ?? Number.NaN, 'SIGKILL')
}

/** Sends Redis one command. */
function tellRedis(command: string): Promise<string> {
  const { port, password } = new URL(redisUrl)
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), '127.0.0.1')
    let heard = ''
    socket.on('error', reject)
    socket.on('data', (chunk) => {
      heard += chunk
      if (heard.split('\r\n').length > 2) socket.end()
    })
    socket.on('close', () => resolve(heard))
    socket.write(`AUTH ${password}\r\n${command}\r\n`)
  })
}

/** Submits while something breaks; every run that was acknowledged ends. */
async function survives(a: Arena, breaking: () => Promise<unknown>): Promise<void> {
  const stop = diligent(await a.started({ url: system.url }))
  const acknowledged = new Set<string>()
  const submitting = rounds(async (n) => {
    const url = n % 2 === 0 ? a.one : a.two
    const answer = await insisting(() => a.ask(String(n), { url }))
    acknowledged.add(ok(answer).execution_id)
    await pause(50)
  }, 200)
  await pause(100)
  await breaking()
  await submitting
  const ended = async () =>
    (await a.all()).filter(({ state }) => state === 'COMPLETED').map((one) => one.execution_id)
  await expect.poll(async () => new Set(await ended()), { timeout: HANG_MS }).toEqual(acknowledged)
  await stop()
}

test(
  'C10: what was acknowledged survives the crash of PostgreSQL and of every executions process',
  PATIENT,
  async () => {
    const a = await arena(system, 0)
    const worker = await a.started({ url: system.url })
    const acknowledged = new Map<string, number[]>()
    const ids = await Promise.all(Array.from({ length: 4 }, () => a.run()))
    let isOver = false
    const lane = async (id: string) => {
      let { generation } = await obtained(worker, 'execution_scheduled', id)
      const told: number[] = []
      acknowledged.set(id, told)
      for (let n = 0; !isOver; n++) {
        const events = [{ id: `${id.slice(-8)}${n}`, type: 'TASK_COMPLETED', value: String(n) }]
        const report = { state: 'RUNNING', events }
        const answer = await insisting(() => worker.checkpoint(id, { ...report, generation }))
        if (answer.status !== 200) {
          generation = (await obtained(worker, 'execution_scheduled', id)).generation
          ok(await insisting(() => worker.checkpoint(id, { ...report, generation })))
        }
        told.push(n)
      }
      ok(await insisting(() => worker.complete(id, generation)))
    }
    const lanes = Promise.all(ids.map(lane))
    for (let crash = 0; crash < 3; crash++) {
      await pause(500)
      await Promise.all([
        crashPostgres(),
        ...system.of('executions').map((one) => one.restart('SIGKILL')),
      ])
    }
    await pause(500)
    isOver = true
    await lanes
    for (const id of ids) {
      const { events, state } = ok(
        await insisting(() => a.send('GET', `/executions/${id}?detailed=true`)),
      )
      expect(state).toBe('COMPLETED')
      const stored = events.flatMap(({ type, value }: { type: string; value: number }) =>
        type === 'TASK_COMPLETED' ? [value] : [],
      )
      expect(stored.length).toBeGreaterThan(5)
      expect(stored).toEqual(acknowledged.get(id))
    }
  },
)

test(
  'E1: every acknowledged run ends though NATS loses its store and is away for a while',
  PATIENT,
  async () => {
    await survives(await arena(system, 0), async () => {
      await nats.kill()
      await nats.wipe()
      await pause(2_000)
      await nats.start()
    })
  },
)

test('E10: a synchronous run is answered at its end while NATS is away', PATIENT, async () => {
  const a = await arena(system, 0)
  const stop = diligent(await a.started({ url: system.url }))
  await nats.kill()
  const told = ok(await a.ask('1', { mode: 'sync', timeoutMs: HANG_MS }))
  expect(told).toMatchObject({ state: 'COMPLETED', output: told.execution_id })
  await nats.start()
  await stop()
})

test(
  'E1: every acknowledged run ends though Redis forgets everything, again and again',
  PATIENT,
  async () => {
    await survives(await arena(system, 0), async () => {
      for (let i = 0; i < 5; i++) {
        expect(await tellRedis('FLUSHALL')).toBe('+OK\r\n+OK\r\n')
        await pause(100)
      }
    })
  },
)

test('E1: every acknowledged run ends though PostgreSQL crashes', PATIENT, async () => {
  await survives(await arena(system, 0), async () => {
    for (let i = 0; i < 2; i++) {
      await crashPostgres()
      await pause(1_000)
    }
  })
})
