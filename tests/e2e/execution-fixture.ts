import { randomBytes } from 'node:crypto'
import { call, type HttpResponse } from '@windlass/testkit/http'
import { ScriptedWorker, type ScriptedWorkerOptions } from '@windlass/testkit/scripted-worker'
import { type System, startSystem } from '@windlass/testkit/system'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'

export const HANG_MS = 60_000
/** Two of each service, each gateway under its own address too. */
export const TWO_OF_EACH = {
  gateway: 2,
  identity: 2,
  catalog: 2,
  executions: 2,
  dispatcher: 2,
  scheduler: 2,
} as const

/** How often a race is run: a hundred times, a thousand in `npm run test:chaos`. */
export const ROUNDS = Number(process.env.TEST_ROUNDS ?? 100)
const AT_ONCE = 20

/** Runs `round` many times, some at the same time. */
export async function repeat(round: (n: number) => Promise<void>, times = ROUNDS): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < times) await round(next++)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, times) }, lane))
}

/** A system that the tests of a file share. */
export function sharedSystem(options: Parameters<typeof startSystem>[0] = {}): () => System {
  let system: System | undefined
  const teardown: (() => unknown)[] = []
  beforeAll(async () => {
    system = await startSystem({ workers: 0, ...options, defer: (one) => teardown.unshift(one) })
  }, 120_000)
  afterAll(async () => {
    for (const one of teardown) await one()
  })
  return () => {
    if (!system) throw new Error('the system has not started')
    return system
  }
}

const source = (name: string, lane: string, options: string) => `
from windlass import ExecutionContext, workflow

@workflow.with_options(affinity={"lane": "${lane}"}${options})
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

/** A workflow and workers that have only each other, and what a client says to both gateways. */
export async function executionFixture(system: System, workers = 1, options = '') {
  const lane = `l${randomBytes(4).toString('hex')}`
  const name = `w_${lane}`
  const [one = system.url, two = one] = system.gateways
  const upload = (more = options) => uploadSource(one, source(name, lane, more))
  await upload()

  const worker = async (more: Partial<ScriptedWorkerOptions> = {}) => {
    const bootstrap = await system.bootstrapToken()
    const made = new ScriptedWorker({ url: one, bootstrap, labels: { lane }, ...more })
    onTestFinished(() => made.close())
    return made
  }
  const started = async (more: Partial<ScriptedWorkerOptions> = {}) => (await worker(more)).start()
  const flow = `/workflows/default/${name}`
  const send = (method: string, path: string, body?: string, url = one) =>
    call(method, url + path, { body })
  const read = async (id: string, url = one) =>
    expectOk(await send('GET', `/executions/${id}?detailed=true`, undefined, url))
  const ask = (
    input: string,
    { mode = 'async', query = '', url = one, ...sent }: RunOptions = {},
  ) => call('POST', `${url}${flow}/run/${mode}${query}`, { body: input, ...sent })

  const crew = await Promise.all(
    Array.from({ length: workers }, (_, i) => started({ url: i % 2 === 0 ? one : two })),
  )
  /** Waits for a frame of an execution; answers it and who was sent it. */
  const sent = (id: string, event = 'execution_scheduled') =>
    Promise.any(
      crew.map((holder) => holder.nextFrame(event, id).then((frame) => ({ holder, ...frame }))),
    )
  /** The same; answers who was sent it, then the others. */
  const dispatched = async (id: string) => {
    const { holder } = await sent(id)
    return [holder, ...crew.filter((one) => one !== holder)] as [
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
    lane,
    flow,
    upload,
    worker,
    started,
    workers: crew,
    sent,
    dispatched,
    send,
    ask,
    read,
    run: async (input = 'null', how: RunOptions = {}): Promise<string> =>
      expectOk(await ask(input, how)).execution_id,
    cancel: (id: string, url = one, query = '') =>
      send('GET', `${flow}/cancel/${id}${query}`, undefined, url),
    resume: (id: string, body: string, url = one) =>
      send('POST', `${flow}/resume/${id}/async`, body, url),
    /** Waits until the execution is in one of these states; answers it. */
    async until(id: string, ...states: string[]) {
      await expect
        .poll(async () => (await read(id)).state, { timeout: HANG_MS, interval: 20 })
        .toBeOneOf(states)
      return read(id)
    },
    /** Everything that this workflow was run for. */
    async all(url = one): Promise<{ execution_id: string; state: string }[]> {
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

/** The body of an answer that has to be 200. */
export function expectOk(answer: HttpResponse) {
  expect(answer.status, answer.text).toBe(200)
  return answer.json
}

export const eventTypes = ({ events }: { events: { type: string }[] }) =>
  events.map(({ type }) => type)

export const expectStaleClaim = (answer: HttpResponse) => {
  expect(answer.status, answer.text).toBe(409)
  expect(answer.text).toContain('stale-claim')
}

async function uploadSource(url: string, text: string) {
  const edge = `windlass-${randomBytes(8).toString('hex')}`
  const body =
    `--${edge}\r\nContent-Disposition: form-data; name="file"; filename="w.py"\r\n` +
    `Content-Type: text/x-python\r\n\r\n${text}\r\n--${edge}--\r\n`
  const headers = { 'content-type': `multipart/form-data; boundary=${edge}` }
  return expectOk(await call('POST', `${url}/workflows`, { body, headers }))
}
