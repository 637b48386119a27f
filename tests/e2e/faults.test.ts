import { setTimeout as pause } from 'node:timers/promises'
import type { Process } from '@windlass/testkit/process'
import { expect, test } from 'vitest'
import {
  type ExecutionFixture,
  executionFixture,
  expectOk,
  HANG_MS,
  repeat,
  sharedSystem,
  TWO_OF_EACH,
} from './execution-fixture.ts'
import {
  reconnectingWorker,
  retryUntilAnswered,
  waitForClaimableFrame,
  withProcessKills,
} from './fault-injection.ts'

const PATIENT = { timeout: 300_000 }
const system = sharedSystem({
  replicas: TWO_OF_EACH,
  linked: ['executions'],
  env: { SVC_EXECUTIONS__CLAIM_TIMEOUT: '1.5', SVC_EXECUTIONS__MAX_ATTEMPTS: '1000' },
})

const second = (service: 'executions' | 'dispatcher' | 'gateway') =>
  system().of(service)[1] as Process

/** Submits runs with their number as the input. Returns the ids of the acknowledged ones by number. */
async function submitAll(
  a: ExecutionFixture,
  count: number,
  more = {},
): Promise<Map<number, string>> {
  const acknowledged = new Map<number, string>()
  await repeat(async (n) => {
    const url = n % 2 === 0 ? a.one : a.two
    const answer = await a.requestRun(String(n), { url, ...more }).catch(() => undefined)
    if (answer?.status === 200) acknowledged.set(n, answer.json.execution_id)
  }, count)
  return acknowledged
}

/** Waits for the end of all executions. Returns their ids by input; fails if an input occurs twice. */
async function completedByInput(a: ExecutionFixture): Promise<Map<number, string>> {
  await expect
    .poll(async () => (await a.listAll()).filter(({ state }) => state !== 'COMPLETED'), {
      timeout: HANG_MS,
    })
    .toEqual([])
  const found = new Map<number, string>()
  for (const { execution_id } of await a.listAll(a.two)) {
    const { input, output } = await a.read(execution_id)
    expect(output).toBe(execution_id)
    expect(found.has(input), `run ${input} twice`).toBe(false)
    found.set(input, execution_id)
  }
  return found
}

test(
  'E1: processes killed in turn: every acknowledged run ends, none exists twice',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 0)
    const stop = reconnectingWorker(await a.startWorker({ url: system().url }))
    const victims = (['executions', 'dispatcher', 'gateway'] as const).map(second)
    const acknowledged = await withProcessKills(victims, async (kills) => {
      const known = new Map<number, string>()
      for (let wave = 0; wave < 10 || kills() < 6; wave++) {
        for (const [n, id] of await submitAll(a, 20)) known.set(1_000 * wave + n, id)
        await pause(200)
      }
      return known
    })
    expect(acknowledged.size).toBeGreaterThan(60)
    await expect
      .poll(async () => (await a.listAll()).filter(({ state }) => state !== 'COMPLETED'), {
        timeout: HANG_MS,
      })
      .toEqual([])
    await stop()
    const all = new Set((await a.listAll(a.two)).map(({ execution_id }) => execution_id))
    for (const id of acknowledged.values()) expect(all.has(id)).toBe(true)
  },
)

test(
  'E2: reply of executions lost during a submission: one execution, and the client gets its id',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 0)
    const stop = reconnectingWorker(await a.startWorker({ url: system().url }))
    const links = system().linksTo('executions')
    const before = links.reduce((sum, { lost }) => sum + lost, 0)
    let isOver = false
    const losing = (async () => {
      for (let i = 0; !isOver; i++) {
        const link = links[i % links.length]
        link?.loseReplies()
        await pause(30)
        link?.heal()
        await pause(120)
      }
    })()
    const acknowledged = await submitAll(a, 200)
    isOver = true
    await losing
    const found = await completedByInput(a)
    await stop()
    expect(links.reduce((sum, { lost }) => sum + lost, 0) - before).toBeGreaterThan(3)
    expect(acknowledged.size).toBeGreaterThan(100)
    for (const [n, id] of acknowledged) expect(found.get(n)).toBe(id)
  },
)

test(
  'E3: run answered 4xx: no execution; run without an answer: at most one, complete',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 0)
    const refused = ['{', '"\u0001"', '[1,]', '01', '\ufeff1', '['.repeat(600), '1 2', "'x'"]
    for (const body of refused)
      expect((await a.requestRun(body)).status, body.slice(0, 9)).toBe(422)
    for (const [query, status] of [
      ['?version=0', 422],
      ['?version=99', 404],
      ['?detailed=maybe', 422],
    ] as const)
      expect((await a.requestRun('1', { query })).status, query).toBe(status)
    const typed = { headers: { 'content-type': 'text/plain' } }
    expect((await a.requestRun('1', typed)).status).toBe(415)
    const keyed = { headers: { 'idempotency-key': 'x'.repeat(256) } }
    expect((await a.requestRun('1', keyed)).status).toBe(422)
    expect(await a.listAll()).toEqual([])
    const once = { headers: { 'idempotency-key': `once ${a.pool}` } }
    const first = await a.run('"first"', once)
    for (const url of [a.one, a.two])
      expect((await a.requestRun('"another"', { ...once, url })).status).toBe(422)
    expect((await a.listAll()).map(({ execution_id }) => execution_id)).toEqual([first])

    const links = system().linksTo('executions')
    for (const link of links) link.loseReplies()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        a.requestRun(String(n), { timeoutMs: 40_000 }).catch(() => undefined),
      ),
    )
    for (const link of links) link.heal()
    for (const answer of answers)
      if (answer) expect(answer.status, answer.text).toBeOneOf([200, 503])
    await retryUntilAnswered(() => a.requestRun('10'))
    const stop = reconnectingWorker(await a.startWorker({ url: system().url }))
    const found = await completedByInput(a)
    await stop()
    expect(found.has(10)).toBe(true)
  },
)

test(
  'E9: every process killed: paused executions stay paused and resume with the one accepted body',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 0)
    const worker = await a.startWorker({ url: system().url })
    const ids = await Promise.all(Array.from({ length: 10 }, () => a.run()))
    for (const id of ids) expectOk(await worker.pause(id, await worker.awaitAndClaim(id)))
    const services = ['executions', 'dispatcher', 'gateway', 'catalog', 'identity'] as const
    await Promise.all(
      services.flatMap((service) =>
        system()
          .of(service)
          .map((one) => one.restart('SIGKILL')),
      ),
    )
    await retryUntilAnswered(() => worker.connect())
    await pause(1_500)
    expect(worker.frames).toEqual([])
    for (const id of ids) expect((await a.read(id)).state).toBe('PAUSED')
    for (const [i, id] of ids.entries()) expectOk(await a.resume(id, `{"n":${i}}`))
    await Promise.all(
      system()
        .of('executions')
        .map((one) => one.restart('SIGKILL')),
    )
    for (const [i, id] of ids.entries()) {
      const { data, generation } = await waitForClaimableFrame(worker, 'execution_resumed', id)
      const given = data.context.events.filter(
        ({ type }: { type: string }) => type === 'WORKFLOW_RESUMING',
      )
      expect(given.map(({ value }: { value: unknown }) => value)).toEqual([{ n: i }])
      expectOk(await retryUntilAnswered(() => worker.complete(id, generation)))
    }
  },
)

test(
  'E10: every process but its gateway killed: a synchronous run is answered at its end',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 0)
    const worker = await a.startWorker({ url: a.one })
    const victims = [...system().of('executions'), second('gateway')]
    await withProcessKills(victims, async (kills) => {
      for (let i = 0; i < 5; i++) {
        const answer = a.requestRun(String(i), { mode: 'sync', timeoutMs: HANG_MS })
        const { execution_id: id, generation } = await waitForClaimableFrame(
          worker,
          'execution_scheduled',
        )
        const before = kills()
        await expect.poll(kills, { timeout: HANG_MS }).toBeGreaterThan(before)
        expectOk(await retryUntilAnswered(() => worker.complete(id, generation, `"${i}"`)))
        const completed = expectOk(await answer)
        expect(completed).toMatchObject({ state: 'COMPLETED', output: String(i), execution_id: id })
      }
    })
  },
)
