import { randomBytes } from 'node:crypto'
import { call, type HttpResponse } from '@windlass/testkit/http'
import { LossyLink } from '@windlass/testkit/lossy-link'
import { ScriptedWorker, type ScriptedWorkerOptions } from '@windlass/testkit/scripted-worker'
import { type System, startSystem, TOLERANT_HEARTBEATS } from '@windlass/testkit/system'
import { ThrottledLink } from '@windlass/testkit/throttled-link'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { describeWaiting } from './describe-waiting.ts'

export const HANG_MS = 60_000
/** Two replicas of each service; each gateway is also reachable at its own address. */
export const TWO_OF_EACH = {
  gateway: 2,
  identity: 2,
  catalog: 2,
  executions: 2,
  dispatcher: 2,
  scheduler: 2,
} as const

/** Repetitions of a race: 100, or 1,000 in `npm run test:chaos`. */
export const ROUNDS = Number(process.env.TEST_ROUNDS ?? 100)
const CONCURRENCY = 20

/** Runs `round` many times, CONCURRENCY of them at a time. */
export async function repeat(round: (n: number) => Promise<void>, times = ROUNDS): Promise<void> {
  let next = 0
  const loop = async () => {
    while (next < times) await round(next++)
  }
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, times) }, loop))
}

/**
 * Settings for tests that wait for an eviction: five seconds after the last pong. A worker of another test of the
 * file, which does not reconnect, is not evicted because a process did not run for a moment.
 */
export const EVICTION_ENV = {
  SVC_WORKERS__HEARTBEAT_TIMEOUT: '4',
  SVC_WORKERS__EVICTION_GRACE_PERIOD: '1',
}

/** Starts one system for all tests of a file; it evicts no worker unless the settings say so (EVICTION_ENV). */
export function sharedSystem({
  env,
  ...options
}: Parameters<typeof startSystem>[0] = {}): () => System {
  let system: System | undefined
  const teardown: (() => unknown)[] = []
  beforeAll(async () => {
    system = await startSystem({
      workers: 0,
      ...options,
      env: { ...TOLERANT_HEARTBEATS, ...env },
      defer: (one) => teardown.unshift(one),
    })
  }, 120_000)
  afterAll(async () => {
    for (const one of teardown) await one()
  })
  return () => {
    if (!system) throw new Error('the system has not started')
    return system
  }
}

const source = (name: string, pool: string, options: string) => `
from windlass import ExecutionContext, workflow

@workflow.with_options(affinity={"pool": "${pool}"}${options})
async def ${name}(ctx: ExecutionContext):
    return ctx.input
`

export interface RunOptions {
  mode?: 'async' | 'sync'
  query?: string
  url?: string
  headers?: Record<string, string>
  timeoutMs?: number
}

export type ExecutionFixture = Awaited<ReturnType<typeof executionFixture>>

/** A workflow that only its own workers match, with scripted workers and client calls to both gateways. */
export async function executionFixture(system: System, workers = 1, options = '') {
  const pool = `l${randomBytes(4).toString('hex')}`
  const name = `w_${pool}`
  const [one = system.url, two = one] = system.gateways
  const upload = (more = options) => uploadSource(one, source(name, pool, more))
  await upload()

  const worker = async (more: Partial<ScriptedWorkerOptions> = {}) => {
    const bootstrap = await system.bootstrapToken()
    const describeWait = (id: string) => describeWaiting(system, id)
    const made = new ScriptedWorker({
      url: one,
      bootstrap,
      labels: { pool },
      describeWait,
      ...more,
    })
    onTestFinished(() => made.close())
    return made
  }
  const startWorker = async (more: Partial<ScriptedWorkerOptions> = {}) =>
    (await worker(more)).start()
  const flow = `/workflows/default/${name}`
  const send = (method: string, path: string, body?: string, url = one) =>
    call(method, url + path, { body })
  const read = async (id: string, url = one) =>
    expectOk(await send('GET', `/executions/${id}?detailed=true`, undefined, url))
  const requestRun = (
    input: string,
    { mode = 'async', query = '', url = one, ...sent }: RunOptions = {},
  ) => call('POST', `${url}${flow}/run/${mode}${query}`, { body: input, ...sent })

  const workerPool = await Promise.all(
    Array.from({ length: workers }, (_, i) => startWorker({ url: i % 2 === 0 ? one : two })),
  )
  /** Waits for a frame of an execution. Returns it with the worker that received it. */
  const waitForFrame = async (id: string, event = 'execution_scheduled') => {
    const findHolder = () => workerPool.find((one) => one.hasFrame(event, id))
    await expect.poll(findHolder, { timeout: HANG_MS, interval: 10 }).toBeDefined()
    const holder = findHolder() as ScriptedWorker
    return { holder, ...(await holder.nextFrame(event, id)) }
  }
  /** Waits for the lease of an execution. Returns the leaseholder first, then the other workers. */
  const waitForLease = async (id: string) => {
    const { holder } = await waitForFrame(id)
    return [holder, ...workerPool.filter((one) => one !== holder)] as [
      ScriptedWorker,
      ScriptedWorker,
      ...ScriptedWorker[],
    ]
  }

  return {
    system,
    one,
    two,
    name,
    pool,
    flow,
    upload,
    worker,
    startWorker,
    workers: workerPool,
    waitForFrame,
    waitForLease,
    send,
    requestRun,
    read,
    run: async (input = 'null', how: RunOptions = {}): Promise<string> =>
      expectOk(await requestRun(input, how)).execution_id,
    cancel: (id: string, url = one, query = '') =>
      send('GET', `${flow}/cancel/${id}${query}`, undefined, url),
    resume: (id: string, body: string, url = one) =>
      send('POST', `${flow}/resume/${id}/async`, body, url),
    /** Waits until the execution is in one of these states. Returns it. */
    async until(id: string, ...states: string[]) {
      await expect
        .poll(async () => (await read(id)).state, { timeout: HANG_MS, interval: 20 })
        .toBeOneOf(states)
      return read(id)
    },
    /** Lists all executions of the workflow. */
    async listAll(url = one): Promise<{ execution_id: string; state: string }[]> {
      const path = `${flow}/executions?limit=1000&offset=`
      const found: { execution_id: string; state: string }[] = []
      for (;;) {
        const page = expectOk(await send('GET', path + found.length, undefined, url))
        found.push(...page.executions)
        if (page.executions.length < 1_000) return found
      }
    },
  }
}

/** Opens a link to a server that can lose its responses, until the end of the test. */
export async function lossyLinkTo(url: string) {
  const link = await LossyLink.to(Number(new URL(url).port))
  onTestFinished(() => link.stop())
  return { link, url: `http://127.0.0.1:${link.port}` }
}

/** Opens a link to a server that can stop and continue, until the end of the test. */
export async function throttledLinkTo(url: string) {
  const link = await ThrottledLink.to(Number(new URL(url).port))
  onTestFinished(() => link.close())
  return { link, url: `http://127.0.0.1:${link.port}` }
}

/** Asserts that the status is 200. Returns the parsed body. */
export function expectOk(answer: HttpResponse) {
  expect(answer.status, answer.text).toBe(200)
  return answer.json
}

/** Id of the frame of a lease. */
export const frameIdOf = (execution_id: string, generation: number) =>
  `${execution_id}_${generation.toString(16).padStart(32, '0')}`

export const eventTypes = ({ events }: { events: { type: string }[] }) =>
  events.map(({ type }) => type)

export const expectStaleClaim = (answer: HttpResponse) => {
  expect(answer.status, answer.text).toBe(409)
  expect(answer.text).toContain('stale-claim')
}

async function uploadSource(url: string, text: string) {
  const boundary = `windlass-${randomBytes(8).toString('hex')}`
  const body =
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="w.py"\r\n` +
    `Content-Type: text/x-python\r\n\r\n${text}\r\n--${boundary}--\r\n`
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
  return expectOk(await call('POST', `${url}/workflows`, { body, headers }))
}
