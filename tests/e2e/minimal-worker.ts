import { randomBytes } from 'node:crypto'
import { call, type EventFrame, type EventStream, openEventStream } from '@windlass/testkit/http'
import type { System } from '@windlass/testkit/system'
import { expect, onTestFinished } from 'vitest'
import { HANG_MS } from './execution-fixture.ts'

export const registration = (name: string, pool: string) => ({
  name,
  runtime: { os_name: 'Linux', os_version: '6.1', python_version: '3.12.1' },
  packages: [{ name: 'p', version: '1' }],
  resources: {
    cpu_total: 4,
    cpu_available: 3.5,
    memory_total: 100,
    memory_available: 50,
    disk_total: 10,
    disk_free: 5,
    gpus: [],
  },
  labels: { pool },
  max_concurrent_executions: 16,
})

/** A worker written from docs/worker-protocol.md alone: every byte that it sends is spelled out here. */
export async function connectWorker(
  system: System,
  pool: string,
  name = `w1-${randomBytes(3).toString('hex')}`,
) {
  const bootstrap = await system.bootstrapToken()
  const headers = { authorization: `Bearer ${bootstrap}` }
  const path = `${system.url}/workers`
  const body = JSON.stringify(registration(name, pool))
  const registered = await call('POST', `${path}/register`, { body, headers })
  const token = registered.json?.session_token as string
  const bearer = { authorization: `Bearer ${token}` }
  const frames: EventFrame[] = []
  const post = (route: string, sent: { body?: string; headers?: Record<string, string> } = {}) =>
    call('POST', `${path}/${name}/${route}`, { ...sent, headers: { ...bearer, ...sent.headers } })
  return {
    name,
    registered,
    frames,
    post,
    get: (route: string) => call('GET', `${path}/${name}/${route}`, { headers: bearer }),
    async connect(): Promise<EventStream> {
      const stream = await openEventStream(`${path}/${name}/connect`, bearer, (frame) => {
        frames.push(frame)
        if (frame.event === 'ping') post('pong', { body: '{"healthy":true}' }).catch(() => {})
      })
      onTestFinished(() => stream.close())
      return stream
    },
    /** Waits for a frame of this event and parses it. */
    async frame(event: string) {
      const find = () => frames.findIndex((one) => one.event === event)
      await expect.poll(find, { timeout: HANG_MS, interval: 10 }).toBeGreaterThanOrEqual(0)
      const [found] = frames.splice(find(), 1)
      return { id: found?.id ?? '', data: JSON.parse(found?.data ?? '') }
    },
  }
}

/** An event as workers send it. */
export const workerEvent = (
  type: string,
  value: unknown = null,
  id = randomBytes(8).toString('hex'),
) => ({
  type,
  source_id: 'task_1',
  name: 'task',
  value,
  time: '2026-11-20T23:57:30.034576',
  id,
  subject: null,
})

interface Context {
  execution_id: string
  events: object[]
}

/** A checkpoint body: the whole context, with the events that are not acknowledged. */
export const snapshot = (
  context: Context,
  state: string,
  events: object[],
  output: unknown = null,
) => JSON.stringify({ ...context, state, output, events })
