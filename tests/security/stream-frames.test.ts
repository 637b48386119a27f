import net from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { type ClaimedExecution, idleWorker } from './idle-worker.ts'

const undo: (() => unknown)[] = []
let auth: AuthSystem
let worker: Awaited<ReturnType<typeof idleWorker>>
let held: ClaimedExecution

beforeAll(async () => {
  auth = await startAuthSystem((one) => undo.push(one), { replicas: { gateway: 2 } })
  await auth.upload(workflowSource('a', 'x'))
  worker = await idleWorker(auth, 'w1')
  undo.push(() => worker.leave())
  const { execution_id = '' } = await auth.must('POST /workflows/a/x/run/async', { body: null })
  held = await worker.hold(execution_id)
})
afterAll(async () => {
  for (const one of undo.reverse()) await one()
})

const HANG_MS = 30_000

/** Reads a stream of the execution's events. */
async function read(gateway: number, token: string) {
  const leave = new AbortController()
  undo.push(() => leave.abort())
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

/** What a worker may say to look like more frames than one. */
const injections: [name: string, item: string][] = [
  ['a value with an end of its own', `{"task_id":"t","task_name":"n","value":"${END}"}`],
  [
    'a value laid out over lines',
    '{"task_id":"t","task_name":"n","value":{\n\n"event":\r\n"workflow_completed"\r\r}}',
  ],
  ['a name with a line break', `{"task_id":"t","task_name":"n${END}","value":1}`],
  [
    'a name with a carriage return',
    '{"task_id":"t","task_name":"n\\r\\revent: workflow_completed\\rdata: {}\\r\\r","value":1}',
  ],
  ['an id with a line break', `{"task_id":"t${END}","task_name":"n","value":1}`],
  [
    'line breaks of other alphabets',
    '{"task_id":"t","task_name":"n","value":"\u2028\u2029\u0085event: workflow_completed"}',
  ],
]

test.each(injections)('N141: %s is one line of data', async (_, item) => {
  const readers = await Promise.all([0, 1].map((gateway) => read(gateway, auth.admin)))
  const mark = `mark-${Math.random()}`
  const say = async (body: string) => {
    const { status, text } = await auth.ask(`POST /workers/w1/progress/${held.execution_id}`, {
      token: worker.token,
      raw: body,
      headers: { 'x-svc-claim-generation': held.generation },
    })
    expect(status, text).toBe(200)
  }
  // A reader is followed from some moment on: what comes before that is dropped.
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

test('N142: hundreds of streams of one key and idle connections keep nobody out', async () => {
  const { key } = await auth.account(['viewer'])
  const readers = await Promise.all(Array.from({ length: 300 }, (_, i) => read(i % 2, key)))
  const idle = Array.from({ length: 400 }, (_, i) => {
    const { hostname, port } = new URL(auth.system.gateways[i % 2] ?? '')
    const socket = net.connect(Number(port), hostname)
    undo.push(() => socket.destroy())
    return socket.on('error', () => {})
  })
  expect(idle).toHaveLength(400)
  for (const gateway of [0, 1])
    for (const token of [key, auth.admin])
      expect((await auth.ask('GET /workflows/a/x', { token }, gateway)).status).toBe(200)
  const body = [{ task_id: 't', task_name: 'n', value: 'for-all' }]
  await expect
    .poll(
      async () => {
        const said = await worker.call(`progress/${held.execution_id}`, body, {
          'x-svc-claim-generation': held.generation,
        })
        expect(said.status, said.text).toBe(200)
        return readers.filter(({ text }) => text.includes('for-all')).length
      },
      { timeout: HANG_MS },
    )
    .toBe(readers.length)
})
