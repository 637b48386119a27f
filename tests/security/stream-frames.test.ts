import net from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { type ClaimedExecution, idleWorker } from './idle-worker.ts'

const teardown: (() => unknown)[] = []
let auth: AuthSystem
let worker: Awaited<ReturnType<typeof idleWorker>>
let held: ClaimedExecution

beforeAll(async () => {
  auth = await startAuthSystem((one) => teardown.push(one), {
    singleProcess: false,
    replicas: { gateway: 2 },
  })
  await auth.upload(workflowSource('a', 'x'))
  worker = await idleWorker(auth, 'w1')
  teardown.push(() => worker.disconnect())
  const { execution_id = '' } = await auth.requestOk('POST /workflows/a/x/run/async', {
    body: null,
  })
  held = await worker.claim(execution_id)
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

const HANG_MS = 60_000

/** Reads the execution's event stream. */
async function read(gateway: number, token: string) {
  const leave = new AbortController()
  teardown.push(() => leave.abort())
  const response = await fetch(
    `${auth.system.gateways[gateway]}/executions/${held.execution_id}/events`,
    {
      headers: { authorization: `Bearer ${token}` },
      signal: leave.signal,
    },
  )
  expect(response.status).toBe(200)
  const state = { text: '' }
  const reading = async () => {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      state.text += Buffer.from(chunk).toString()
  }
  void reading().catch(() => {})
  return state
}

const END = '\\n\\nevent: workflow_completed\\ndata: {}\\n\\n'

/** Progress values that try to inject further frames. */
const injections: [name: string, item: string][] = [
  ['value with a frame end', `{"task_id":"t","task_name":"n","value":"${END}"}`],
  [
    'value over several lines',
    '{"task_id":"t","task_name":"n","value":{\n\n"event":\r\n"workflow_completed"\r\r}}',
  ],
  ['name with a line break', `{"task_id":"t","task_name":"n${END}","value":1}`],
  [
    'name with a carriage return',
    '{"task_id":"t","task_name":"n\\r\\revent: workflow_completed\\rdata: {}\\r\\r","value":1}',
  ],
  ['id with a line break', `{"task_id":"t${END}","task_name":"n","value":1}`],
  [
    'Unicode line separators',
    '{"task_id":"t","task_name":"n","value":"\u2028\u2029\u0085event: workflow_completed"}',
  ],
]

test.each(injections)('N141: %s: sent as one line of data', async (_, item) => {
  const readers = await Promise.all([0, 1].map((gateway) => read(gateway, auth.admin)))
  const mark = `mark-${Math.random()}`
  const say = async (body: string) => {
    const { status, text } = await auth.request(`POST /workers/w1/progress/${held.execution_id}`, {
      token: worker.token,
      raw: body,
      headers: { 'x-svc-claim-generation': held.generation },
    })
    expect(status, text).toBe(200)
  }
  // Progress that is sent before the stream is attached is dropped.
  await expect
    .poll(
      async () => {
        await say(`[${item},{"task_id":"t","task_name":"n","value":"${mark}"}]`)
        return readers.every(({ text }) => text.includes(mark))
      },
      { timeout: HANG_MS },
    )
    .toBe(true)
  for (const { text } of readers) {
    expect(text).not.toMatch(/^event: workflow_completed/m)
    for (const line of text.split(/\r\n|\r|\n/))
      expect(line).toMatch(/^(|:.*|id: \d+|event: [a-z_]+|data: \{.*\})$/)
    const frames = text.split('\n\n').filter((frame) => frame.includes('event: task_progress'))
    expect(frames.length).toBeGreaterThan(1)
    for (const frame of frames) {
      const data = frame.split('\n').filter((line) => line.startsWith('data: '))
      expect(data).toHaveLength(1)
      expect(JSON.parse(data[0]?.slice(6) ?? '')).toMatchObject({ type: 'TASK_PROGRESS' })
    }
  }
})

test('N142: hundreds of streams of one key and idle connections: other callers are served', async () => {
  const { key } = await auth.createAccount(['viewer'])
  const readers = await Promise.all(Array.from({ length: 300 }, (_, i) => read(i % 2, key)))
  const idle = Array.from({ length: 400 }, (_, i) => {
    const { hostname, port } = new URL(auth.system.gateways[i % 2] ?? '')
    const socket = net.connect(Number(port), hostname)
    teardown.push(() => socket.destroy())
    return socket.on('error', () => {})
  })
  expect(idle).toHaveLength(400)
  for (const gateway of [0, 1])
    for (const token of [key, auth.admin])
      expect((await auth.request('GET /workflows/a/x', { token }, gateway)).status).toBe(200)
  const body = [{ task_id: 't', task_name: 'n', value: 'for-all' }]
  await expect
    .poll(
      async () => {
        const response = await worker.call(`progress/${held.execution_id}`, body, {
          'x-svc-claim-generation': held.generation,
        })
        expect(response.status, response.text).toBe(200)
        return readers.filter(({ text }) => text.includes('for-all')).length
      },
      { timeout: HANG_MS },
    )
    .toBe(readers.length)
})
