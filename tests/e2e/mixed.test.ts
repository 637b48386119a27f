import { setTimeout as pause } from 'node:timers/promises'
import { isSettled } from '@windlass/domain/states'
import { expect, test } from 'vitest'
import { type ExecutionFixture, executionFixture, expectOk } from './execution-fixture.ts'
import { isolatedSystem } from './isolated-system.ts'
import { violationsOf } from './mixed/check-history.ts'
import { clients } from './mixed/clients.ts'
import { faultsOf } from './mixed/fault-set.ts'
import { type FinalExecution, History, type RecordedCall, type Run } from './mixed/history.ts'
import { WorkerPool } from './mixed/worker-pool.ts'

/** Duration of the fault injection; minutes in `npm run test:chaos`. */
const SECONDS = Number(process.env.TEST_MIXED_SECONDS ?? 5)
const SEED = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000)
const QUIET_HANG_MS = 120_000
const WORKERS = 4

const isolated = isolatedSystem({
  SVC_EXECUTIONS__CLAIM_TIMEOUT: '1.5',
  SVC_EXECUTIONS__CANCEL_TIMEOUT: '3',
  SVC_EXECUTIONS__MAX_ATTEMPTS: '1000',
})

test('E1 to E9, C1 to C3, C9, D6: random faults: all responses agree with the event logs', {
  timeout: SECONDS * 1_000 + 300_000,
}, async () => {
  const { system, nats, crashPostgres, redisCommand } = isolated()
  const a = await executionFixture(system, 0)
  const history = new History()
  const pool = new WorkerPool(a, history)
  await pool.add(WORKERS)
  const stopClients = clients(a, history)
  const stores = { nats, crashPostgres, flushRedis: () => redisCommand('FLUSHALL') }
  const { any, shuffled } = chance(SEED)
  const faults = faultsOf(system, stores, pool, any)
  const counts = new Map<string, number>()
  const end = performance.now() + SECONDS * 1_000
  for (let names: string[] = []; performance.now() < end; ) {
    if (names.length === 0) names = shuffled([...faults.keys()])
    const name = names.pop() ?? ''
    await faults.get(name)?.()
    counts.set(name, (counts.get(name) ?? 0) + 1)
    await pause(200)
  }
  const acknowledged = await stopClients()
  await settled(a).catch(async (error: unknown) => {
    console.error(
      `mixed, seed ${SEED}, not settled: ${JSON.stringify(await unsettled(a, history.ops))}`,
    )
    throw error
  })
  await pool.stop()
  const { ops, frames } = history
  const run = { ops, frames, ended: await allEnded(a), lists: await lists(a) }
  console.info(`mixed, seed ${SEED}: ${JSON.stringify(tally(run, counts))}`)
  const violations = violationsOf(run)
  for (const text of violations)
    console.error(`mixed, seed ${SEED}: ${text} ${JSON.stringify(historyOf(run, text))}`)
  expect(violations).toEqual([])
  expect(frames.some(({ isDelivered }) => isDelivered)).toBe(true)
  expect(acknowledged).toBeGreaterThan(SECONDS)
  expect(counts.size).toBeGreaterThanOrEqual(Math.min(faults.size, SECONDS / 5))
})

/** Waits until every execution is terminal or paused. */
const settled = (a: ExecutionFixture) =>
  expect
    .poll(
      async () => {
        const all = await a.listAll().catch(() => [{ execution_id: 'unread', state: '' }])
        return all.filter(({ state }) => !isSettled(state))
      },
      { timeout: QUIET_HANG_MS, interval: 500 },
    )
    .toEqual([])

/** Everything known about the executions that have not settled: log, reason, and calls of their workers. */
async function unsettled(a: ExecutionFixture, ops: readonly RecordedCall[]) {
  const left = (await a.listAll()).filter(({ state }) => !isSettled(state))
  return Promise.all(
    left.map(async ({ execution_id: id, state }) => ({
      id,
      state,
      why: (await a.send('GET', `/executions/${id}/explain`)).json,
      events: (await a.read(id)).events.map(({ type, source_id, time }: Record<string, string>) =>
        [type, source_id, time].join(' '),
      ),
      calls: ops.filter((op) => 'id' in op && op.id === id),
    })),
  )
}

/** Calls, frames and log of the execution that a violation names. */
function historyOf({ ops, frames, ended }: Run, violation: string) {
  const id = violation.split(' ')[1] ?? ''
  return {
    calls: ops.filter((op) => 'id' in op && op.id === id),
    frames: frames.filter((frame) => frame.id === id),
    events: ended.get(id)?.events,
  }
}

const lists = (a: ExecutionFixture) =>
  Promise.all(
    [a.one, a.two].map(async (url) =>
      (await a.listAll(url)).map(({ execution_id }) => execution_id),
    ),
  )

async function allEnded(a: ExecutionFixture): Promise<Map<string, FinalExecution>> {
  const all = new Map<string, FinalExecution>()
  for (const { execution_id: id } of await a.listAll()) {
    const { input: marker, state, output, events } = await a.read(id)
    const isPaused = state === 'PAUSED'
    const why = isPaused ? expectOk(await a.send('GET', `/executions/${id}/explain`)).reason : ''
    all.set(id, { id, marker, state, output, events, reason: why })
  }
  return all
}

function tally({ ops, frames, ended }: Run, faults: ReadonlyMap<string, number>) {
  const count = (names: readonly string[]) =>
    Object.fromEntries(
      [...new Set(names)].map((name) => [name, names.filter((one) => one === name).length]),
    )
  return {
    calls: count(ops.map(({ what, status }) => `${what} ${status || 'unknown'}`)),
    frames: count(frames.map(({ isDelivered }) => (isDelivered ? 'delivered' : 'to be claimed'))),
    states: count([...ended.values()].map(({ state }) => state)),
    faults: Object.fromEntries(faults),
  }
}

/** Random choices that a seed reproduces (mulberry32). */
function chance(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    any: <T>(all: readonly T[]): T => all[Math.floor(next() * all.length)] as T,
    shuffled: <T>(all: readonly T[]): T[] =>
      all
        .map((one) => ({ one, rank: next() }))
        .sort((x, y) => x.rank - y.rank)
        .map(({ one }) => one),
  }
}
